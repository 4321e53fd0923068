
"use strict";
(() => {
const LARGEST = 200 * 2 ** 20, LARGEST_KEYS = 2 ** 20, MOST_FILES = 2000, DEEPEST = 100;
const ENVELOPE = "release.dsse.json", PAYLOAD_TYPE = "application/vnd.in-toto+json";
const STATEMENT = "https://in-toto.io/Statement/v1";
const KIND = "urn:dpql:predicate:", RELEASE = KIND + "release:v1";
const OTHERS = { [KIND + "rehearsal:v1"]: "a rehearsal, whose numbers protect nobody and describe nobody",
  [KIND + "approval:v1"]: "an approval of a plan" };
const NEWEST = 4;
const text = new TextEncoder();

class Refused extends Error {
  constructor(check, words) { super(words); this.check = check; }
}
const refuse = (check, words) => { throw new Refused(check, words); };

// ---- texts: visible, short, never markup -------------------------------------------

const shown = (value, most = 300) => {
  const visible = String(value).replace(/[\p{C}\u2028\u2029]/gu,
    (c) => "\\u{" + c.codePointAt(0).toString(16).padStart(4, "0") + "}");
  return visible.length > most ? visible.slice(0, most - 1) + "…" : visible;
};

// ---- bytes and JSON, as dpql writes them: one form only ----------------------------

const utf8 = (bytes, check) => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch { return refuse(check, "it is not UTF-8 text"); }
};

const byCodePoint = (a, b) => {
  if (!/[\ud800-\udfff]/.test(a + b)) return a < b ? -1 : Number(a > b);
  const x = [...a], y = [...b];
  for (let i = 0; i < Math.min(x.length, y.length); i += 1) {
    const step = x[i].codePointAt(0) - y[i].codePointAt(0);
    if (step) return step;
  }
  return x.length - y.length;
};

const laidOut = (node, newline, depth) => {
  if (depth > DEEPEST) throw new RangeError("too deep");
  if (node === null || typeof node === "boolean" || typeof node === "string") return JSON.stringify(node);
  if (typeof node === "number") throw new TypeError("a number");
  const inner = newline + "  ";
  const list = Array.isArray(node);
  const items = list
    ? node.map((item) => laidOut(item, inner, depth + 1))
    : Object.keys(node).sort(byCodePoint).map((name) =>
      JSON.stringify(name) + ": " + laidOut(node[name], inner, depth + 1));
  const [open, close] = list ? "[]" : "{}";
  return items.length ? open + inner + items.join("," + inner) + newline + close : open + close;
};
const canonical = (node) => laidOut(node, "\n", 0) + "\n";

// Written again it must be the same text: so no member is there twice, and no reader
// can see another document in it.
const parsed = (source, check) => {
  let document = null;
  try { document = JSON.parse(source); } catch { refuse(check, "it is not JSON"); }
  let again = null;
  try { again = canonical(document); } catch { refuse(check, "it holds numbers, or is nested too deeply"); }
  if (again !== source) refuse(check, "it is not as dpql wrote it: it was edited, laid out anew, or has a member twice");
  return document;
};

const isObject = (node) => node !== null && typeof node === "object" && !Array.isArray(node);
const need = (node, members, check) => {
  if (!isObject(node) || Object.keys(node).sort().join() !== [...members].sort().join()) refuse(check, "a member is missing or unknown");
};
const needText = (node, check) => typeof node === "string" ? node : refuse(check, "a text is missing");

const fromBase64 = (coded, check) => {
  if (typeof coded !== "string" || coded.length % 4 || !/^[A-Za-z0-9+/]*={0,2}$/.test(coded)) refuse(check, "a member is not base64");
  const tail = coded.slice(-4);
  if (btoa(atob(tail)) !== tail) refuse(check, "a member is not standard base64");
  const binary = atob(coded);
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
};
const hex = (bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, "0")).join("");
const sha256 = async (bytes) => crypto.subtle.digest("SHA-256", bytes);
const digestOf = async (bytes) => hex(await sha256(bytes));

// ---- allowed_signers -----------------------------------------------------------------

const dayOf = (stamp, up) => {
  const found = /^(\d{4})(\d{2})(\d{2})(\d{4}(?:\d{2})?)?Z?$/.exec(stamp);
  if (!found) return null;
  const day = new Date(Date.UTC(+found[1], +found[2] - 1, +found[3]));
  if (day.toISOString().slice(0, 10) !== found.slice(1, 4).join("-")) return null;
  if (up && Number(found[4] || 0) > 0) day.setUTCDate(day.getUTCDate() + 1);
  return day.toISOString().slice(0, 10);
};

const optionsOf = (source) => {
  const options = new Map();
  const pattern = /(namespaces|valid-after|valid-before)="([^"\\]*)"(,|$)/y;
  while (pattern.lastIndex < source.length) {
    const found = pattern.exec(source);
    if (!found || options.has(found[1])) return null;
    options.set(found[1], found[2]);
  }
  return source.endsWith(",") ? null : options;
};

const rawKey = (coded) => {
  let blob = null;
  try { blob = fromBase64(coded, "keys"); } catch { return null; }
  const head = [0, 0, 0, 11, ...text.encode("ssh-ed25519"), 0, 0, 0, 32];
  return blob.length === head.length + 32 && head.every((b, i) => blob[i] === b) ? blob : null;
};

const trustedLine = async (words) => {
  const names = words[0].split(",");
  if (!names.every((name) => /^[A-Za-z0-9][A-Za-z0-9@._+-]{0,199}$/.test(name))) return null;
  const at = words.slice(1, 3).findIndex((word) => /^(?:ssh-|ecdsa-|sk-)[A-Za-z0-9@.-]+$/.test(word)) + 1;
  if (at < 1 || at + 1 >= words.length) return null;
  const options = at > 1 ? optionsOf(words[1]) : new Map();
  if (options === null) return null;
  if (words[at] !== "ssh-ed25519") return {};
  const blob = rawKey(words[at + 1]);
  const roles = (options.get("namespaces") || "").split(",").filter(Boolean);
  const days = [["valid-after", true], ["valid-before", false]].map(([name, up]) =>
    options.has(name) ? dayOf(options.get(name), up) : "");
  if (blob === null || days.includes(null) || !roles.every((role) => /^[A-Za-z0-9@._-]{1,100}$/.test(role))) return null;
  const print = btoa(String.fromCharCode(...new Uint8Array(await sha256(blob)))).replace(/=+$/, "");
  return { names, roles, first: days[0], until: days[1], key: blob.slice(-32), id: "SHA256:" + print };
};

const readTrust = async (bytes) => {
  const lines = [];
  for (const [index, line] of utf8(bytes, "keys").split("\n").entries()) {
    const words = line.trim().split(/\s+/);
    if (words[0] === "" || words[0].startsWith("#")) continue;
    const found = await trustedLine(words);
    if (found === null) refuse("keys", "line " + (index + 1) + " of the file of trusted keys cannot be understood");
    if (found.id) lines.push(found);
  }
  return lines;
};

// ---- envelopes -----------------------------------------------------------------------

const accepts = async (key, signature, message) => {
  const made = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
  return crypto.subtle.verify({ name: "Ed25519" }, made, signature, message);
};

// Returns the payload, and for every signature the lines that give its key the role.
const openEnvelope = async (source, trust, role, check) => {
  const document = parsed(source, check);
  need(document, ["payload", "payloadType", "signatures"], check);
  if (document.payloadType !== PAYLOAD_TYPE) refuse(check, "the payload is of another type");
  const listed = document.signatures;
  if (!Array.isArray(listed) || listed.length < 1 || listed.length > 64) refuse(check, "there is no signature, or too many");
  const payload = fromBase64(document.payload, check);
  const head = text.encode("DSSEv1 " + PAYLOAD_TYPE.length + " " + PAYLOAD_TYPE + " " + payload.length + " ");
  const message = new Uint8Array(head.length + payload.length);
  message.set(head); message.set(payload, head.length);
  const signers = [];
  let last = "";
  for (const one of listed) {
    need(one, ["keyid", "sig"], check);
    const id = needText(one.keyid, check);
    if (id <= last) refuse(check, "the signatures are not by different keys, in order");
    last = id;
    const known = trust.filter((line) => line.id === id);
    if (!known.length) refuse(check, "it is signed by the key " + shown(id) + ", which is not among the trusted keys");
    if (!(await accepts(known[0].key, fromBase64(one.sig, check), message))) refuse(check, "the signature is not by " + known[0].names[0] + " on these bytes: the file was altered, or is another");
    const allowed = known.filter((line) => line.roles.includes(role));
    if (!allowed.length) refuse("role", known[0].names[0] + " is not trusted in the role " + role);
    signers.push(allowed);
  }
  return { payload, signers };
};

const validOn = (lines, day) => {
  const found = lines.find((line) => (!line.first || line.first <= day) && (!line.until || day < line.until));
  return found || refuse("dates", "the key of " + lines[0].names[0] + " was not valid on " + day);
};

const readDay = (day, check) => {
  if (typeof day !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(day) || dayOf(day.replaceAll("-", ""), false) !== day) refuse(check, "a date is not written as year, month, day");
  return day;
};

const statementOf = (payload, kind) => {
  const statement = parsed(utf8(payload, "statement"), "statement");
  need(statement, ["_type", "predicate", "predicateType", "subject"], "statement");
  if (statement._type !== STATEMENT) refuse("statement", "it is no in-toto Statement, version 1");
  if (statement.predicateType !== kind) refuse("kind", "this is " + (OTHERS[statement.predicateType] || (statement.predicateType === RELEASE ? "a release" : "something else")) + ", not " + (kind === RELEASE ? "a release" : "an approval"));
  if (!isObject(statement.predicate) || !Array.isArray(statement.subject)) refuse("statement", "a member is missing or unknown");
  return statement;
};

const subjectsOf = (statement) => statement.subject.map((one) => {
  need(one, ["name", "digest"], "statement"); need(one.digest, ["sha256"], "statement");
  if (!/^[0-9a-f]{64}$/.test(needText(one.digest.sha256, "statement"))) refuse("statement", "a digest is no sha256");
  return [needText(one.name, "statement"), one.digest.sha256];
});

const expectedFiles = (predicate) => {
  if (!/^[1-9]$/.test(predicate.format) || Number(predicate.format) > NEWEST) refuse("statement", "the release is of a format that this page does not know: use dpql verify of its version");
  const format = Number(predicate.format);
  if (predicate.plan.version !== String(format)) refuse("plan", "the format of its plan is another");
  const names = ["release.csv", "release.parquet"];
  if (format > 1) names.push("report.html");
  if (format < 4) return names;
  const seen = new Map();
  for (const step of predicate.plan.steps) {
    const folded = needText(step.name, "plan").toLowerCase();
    seen.set(folded, (seen.get(folded) || 0) + 1);
    names.push("table-" + step.name + (seen.get(folded) > 1 ? "~" + seen.get(folded) : "") + ".csv");
  }
  return [...names, "dictionary.md"].sort(byCodePoint);
};

// ---- a release -----------------------------------------------------------------------

const checkApprovals = async (predicate, digest, trust, day, signers) => {
  if (!Array.isArray(predicate.approvals) || predicate.approvals.length > 100) refuse("approval", "a member is missing or unknown");
  const names = new Set(signers.flatMap((line) => trust.filter((one) => one.id === line.id).flatMap((one) => one.names)));
  const reviewers = [];
  let dataset = predicate.ledger === null ? null : predicate.ledger.dataset;
  for (const source of predicate.approvals) {
    const opened = await openEnvelope(needText(source, "approval"), trust, "dpql-plan", "approval");
    const statement = statementOf(opened.payload, KIND + "approval:v1");
    const said = statement.predicate, subjects = subjectsOf(statement);
    if (said.plan_digest !== digest || subjects.length !== 1 || subjects[0][0] !== "plan.json" || subjects[0][1] !== digest) refuse("approval", "an approval is for another plan");
    if (said.until !== null && day > readDay(said.until, "approval")) refuse("approval", "an approval ended on " + said.until);
    if (predicate.format !== "1") {
      if (dataset !== null && said.dataset !== dataset) refuse("approval", "an approval is for another dataset");
      dataset = said.dataset;
    }
    for (const lines of opened.signers) {
      const line = validOn(lines, day);
      if (signers.some((one) => one.id === line.id) || trust.filter((one) => one.id === line.id).some((one) => one.names.some((name) => names.has(name)))) refuse("approval", line.names[0] + " approved the plan and signed the release");
      reviewers.push(line.names[0]);
    }
  }
  return [...new Set(reviewers)];
};

const checkRelease = async (given, note) => {
  const trust = await readTrust(given.keys);
  const source = utf8(given.files.get(ENVELOPE), "envelope");
  const { payload, signers } = await openEnvelope(source, trust, "dpql-release", "signature");
  const statement = statementOf(payload, RELEASE);
  const predicate = statement.predicate;
  if (!isObject(predicate.plan) || !isObject(predicate.plan.spec) || !Array.isArray(predicate.plan.steps) || !isObject(predicate.guarantee) || !(predicate.ledger === null || isObject(predicate.ledger))) refuse("statement", "a member is missing or unknown");
  const day = readDay(predicate.date, "statement");
  const lines = signers.map((one) => validOn(one, day));
  const who = lines.map((line) => line.names[0]).join(" and ");
  note("ok", "signature", lines.map((line) => line.names[0] + "  " + line.id).join("; "));
  note("ok", "role", "trusted as dpql-release");
  note("ok", "dates", "dated " + day + lines.map((line) => line.until ? "; the key of " + line.names[0] + " is valid until " + line.until : "").join(""));
  const named = predicate.plan.spec.signer;
  if (typeof named === "string" && !lines.some((line) => line.names.some((name) => name === named || name.split("@")[0] === named))) refuse("signature", "the plan is to be signed by " + shown(named) + ", not by " + who);
  const subjects = subjectsOf(statement), expected = expectedFiles(predicate);
  if (subjects.map(([name]) => name).join("\n") !== expected.join("\n")) refuse("files", "the files that are signed are not those of such a release");
  if (given.files.size === 1) note("none", "files", "not given: the tables and the page were not checked");
  else {
    for (const [name, digest] of subjects) {
      if (!given.files.has(name)) refuse("files", name + " is missing");
      if ((await digestOf(given.files.get(name))) !== digest) refuse("files", name + " is not the file that was signed");
    }
    note("ok", "files", subjects.map(([name]) => name).join(", ") + " are as they were signed");
    const others = [...given.files.keys()].filter((name) => name !== ENVELOPE && !subjects.some(([one]) => one === name));
    if (others.length) note("warn", "files", "nobody signed " + others.slice(0, 5).map((name) => shown(name, 60)).join(", ") + (others.length > 5 ? " and " + (others.length - 5) + " more" : ""));
  }
  const digest = await digestOf(text.encode(canonical(predicate.plan)));
  if (digest !== predicate.plan_digest) refuse("plan", "the plan in the release is not the one whose digest it states");
  note("ok", "plan", "the plan has the digest " + digest.slice(0, 16));
  const content = await digestOf(text.encode(canonical(predicate)));
  const page = given.files.get("report.html");
  if (page && predicate.format !== "1") {
    if (!utf8(page, "page").includes(content)) refuse("page", "report.html does not name the content of this release");
    note("ok", "page", "report.html names the content of this release");
  }
  const reviewers = await checkApprovals(predicate, digest, trust, day, lines);
  note(reviewers.length ? "ok" : "warn", "approval", reviewers.length ? reviewers.join(", ") + " approved the plan" : "nobody approved the plan");
  for (const caveat of Array.isArray(predicate.caveats) ? predicate.caveats : []) note("warn", "caution", needText(caveat, "statement"));
  if (predicate.ledger === null) note("warn", "ledger", "no budget was debited for this release");
  return { predicate, who, day };
};

// ---- the page ------------------------------------------------------------------------

const result = document.getElementById("result"), drop = document.getElementById("drop");
const given = { files: new Map(), keys: null };
const make = (tag, words, name) => {
  const node = document.createElement(tag);
  if (words !== undefined) node.textContent = shown(words, 2000);
  if (name) node.className = name;
  return node;
};
const MARKS = { ok: "ok", warn: "!!", wrong: "no", none: "--" };
const entry = (list, state, name, words) => {
  const item = make("li", undefined, state);
  item.append(make("span", MARKS[state], "mark"), make("span", name, "name"), make("span", words, "text"));
  list.append(item);
};

const UNCHECKED = [
  "that the plan is what its spec compiles to, and spends no more than it says",
  "that every value, interval and accuracy follows from the noisy numbers and the plan",
  "that the tables hold the signed values: only their digests were compared",
  "that the words of the guarantee below follow from the plan",
  "that a ledger knows the release: dpql verify --ledger asks it",
];
const UNKNOWABLE = "Nothing can show whether the run used the data it says, with this code and unseeded coins, or whether the signer dated it truly.";

const facts = ({ predicate, day }) => {
  const list = make("dl");
  const budget = predicate.ledger === null ? "none debited" : predicate.ledger.dataset + ": " + predicate.ledger.before + " → " + predicate.ledger.after + " of " + predicate.ledger.cap;
  for (const [name, words] of [["title", predicate.title], ["purpose", "“" + predicate.purpose + "”"], ["date", day],
    ["epsilon", predicate.guarantee.epsilon], ["delta", predicate.guarantee.delta], ["unit", predicate.guarantee.unit], ["budget", budget]]) list.append(make("dt", name), make("dd", words));
  return list;
};

const check = async (isLatest) => {
  const parts = [], list = make("ul", undefined, "checks");
  const note = (state, name, words) => entry(list, state, name, words);
  let verdict = null;
  try {
    const found = await checkRelease({ files: new Map(given.files), keys: given.keys }, note);
    verdict = make("p", "Signed by " + found.who + ". Nothing that was checked here has been altered.", "verdict good");
    const promise = make("div", undefined, "promise");
    promise.append(make("p", found.predicate.guarantee.words));
    parts.push(make("h2", found.predicate.title), verdict, promise, facts(found), make("h3", "Checked"), list);
  } catch (error) {
    const known = error instanceof Refused;
    note("wrong", known ? error.check : "page", known ? error.message : "this file cannot be read as a release");
    verdict = make("p", "Do not believe this release: " + (known ? error.message : "it cannot be read") + ".", "verdict bad");
    parts.push(verdict, list);
  }
  const unchecked = make("ul", undefined, "checks");
  for (const words of UNCHECKED) entry(unchecked, "none", "not checked", words);
  parts.push(make("h3", "Only dpql verify recomputes"), unchecked, make("p", UNKNOWABLE, "quiet"));
  if (!isLatest()) return;
  result.replaceChildren(...parts);
  result.dataset.state = verdict.classList.contains("good") ? "good" : "bad";
};

const say = (words) => { document.getElementById("given").textContent = words; };
const refresh = async (isLatest) => {
  const here = given.files.has(ENVELOPE);
  say((here ? given.files.size + " files of the release" : "no " + ENVELOPE + " yet") + "; " + (given.keys ? "trusted keys given" : "no file of trusted keys yet"));
  if (here && given.keys && isLatest()) await check(isLatest);
};

const bad = (words) => {
  result.replaceChildren(make("p", words, "verdict bad"));
  result.dataset.state = "bad";
};

// What is dropped or chosen: a file, what it is called in its folder, and whether it
// says whom to trust. A file of keys inside a release, or beside its envelope, is its
// sender's and trusted for nothing; so it is a file that nobody signed.
const named = (file) => ({ file, name: (file.webkitRelativePath || file.name).split("/").slice(file.webkitRelativePath ? 1 : 0).join("/"), keys: false });
const loose = (files) => {
  const apart = !files.some((file) => file.name === ENVELOPE);
  return files.map((file) => ({ file, name: file.name, keys: apart && /^allowed_signers/.test(file.name) }));
};

const addNow = async (files, isLatest) => {
  const all = files.slice(0, MOST_FILES), names = new Set();
  for (const one of all) {
    const name = one.keys ? "" : one.name;
    if (names.has(name)) return bad((one.keys ? "the file of trusted keys" : one.name) + " is there twice: give one release, and one file of trusted keys.");
    names.add(name);
  }
  if (names.has(ENVELOPE)) given.files.clear();
  for (const { file, name, keys } of all) {
    if (file.size > (keys ? LARGEST_KEYS : LARGEST)) return bad(name + " is too large for this page: use dpql verify.");
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (keys) given.keys = bytes; else given.files.set(name, bytes);
  }
  return refresh(isLatest);
};

// One after the other: what is dropped while a check runs waits for its end, and only
// what was given last is shown.
let last = Promise.resolve(), turns = 0;
const add = (files) => {
  result.replaceChildren(); delete result.dataset.state;
  const turn = ++turns;
  last = last.then(() => addNow(files, () => turn === turns));
  return last;
};

// What is in a folder: by handles, or by the entries of browsers that have none. On a
// page that is itself a file, Chromium reads nothing by entries.
const inside = async function* (folder) {
  if (folder.kind) { for await (const one of folder.values()) yield one; return; }
  const reader = folder.createReader();
  for (let more = [null]; more.length;) {
    more = await new Promise((done, failed) => { reader.readEntries(done, failed); });
    yield* more;
  }
};
const isFile = (one) => one.kind === "file" || one.isFile === true;
const fileOf = (one) => one.kind ? one.getFile() : new Promise((done, failed) => { one.file(done, failed); });

const walked = async (dropped) => {
  const files = [], alone = [];
  for (const one of (await Promise.all(dropped)).filter(Boolean)) {
    if (isFile(one)) { alone.push(await fileOf(one)); continue; }
    for await (const inner of inside(one)) {
      if (files.length === MOST_FILES) break;
      if (isFile(inner)) files.push(await fileOf(inner));
    }
  }
  return [...files.map((file) => ({ file, name: file.name, keys: false })), ...loose(alone)];
};

const start = async () => {
  try {
    await crypto.subtle.importKey("raw", new Uint8Array(32).fill(1), { name: "Ed25519" }, false, ["verify"]);
  } catch {
    result.replaceChildren(make("p", "This browser cannot check Ed25519 signatures, so it cannot check a release. Use a newer one (Chrome 137, Firefox 129, Safari 17 or later), or dpql verify.", "verdict bad"));
    result.dataset.state = "no-ed25519";
    return;
  }
  for (const id of ["folder", "files"]) document.getElementById(id).addEventListener("change", (event) => add([...event.target.files].map(named)));
  document.getElementById("keys").addEventListener("change", (event) => add([...event.target.files].map((file) => ({ file, name: file.name, keys: true }))));
  addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  addEventListener("dragleave", () => drop.classList.remove("over"));
  addEventListener("drop", async (event) => {
    event.preventDefault(); drop.classList.remove("over");
    const files = [...event.dataTransfer.files];
    // All are asked for at once: when the event is over there are none.
    const dropped = [...event.dataTransfer.items].filter((item) => item.kind === "file").map((item) =>
      item.getAsFileSystemHandle ? item.getAsFileSystemHandle() : item.webkitGetAsEntry());
    try {
      const found = await walked(dropped);
      await add(found.length ? found : loose(files));
    } catch { bad("This browser does not let the page read what is dropped on it: choose the folder and the file of trusted keys with the buttons."); }
  });
  result.dataset.state = "ready";
};
start();
})();
