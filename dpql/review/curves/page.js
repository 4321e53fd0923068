
"use strict";
// Divides a total by shares and looks the rest up: every error was computed by the planner.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const total = document.getElementById("total");
  if (!total) return;
  const warning = document.getElementById("warning");
  const sliders = [...document.querySelectorAll("input.share")];
  const planned = total.value;
  document.documentElement.classList.add("scripted");

  const shared = data.statistics.map((_, index) => index)
    .filter((index) => data.statistics[index].weight !== null);
  const rows = document.getElementById("rows");
  const contributes = document.getElementById("contributes");
  const starts = [rows, contributes].map((slider) => slider && slider.value);

  // What the planner computed for the chosen contribution and number of rows.
  const seriesOf = (index) => {
    const own = data.statistics[index];
    const offered = data.contributes[contributes ? Number(contributes.value) : 0];
    if (!offered) return own;
    const found = offered.statistics[index];
    const row = rows && found.points.length > 1 ? Number(rows.value) : 0;
    return { epsilon: found.epsilon, points: found.points[row] };
  };

  const sliderOf = (index) =>
    sliders.find((slider) => Number(slider.dataset.statistic) === index);

  // Half an octave a notch.
  const weightOf = (index) => {
    const slider = sliderOf(index);
    return data.statistics[index].weight * 2 ** (slider ? Number(slider.value) / 2 : 0);
  };

  const pointFor = (each, epsilon) => {
    const affordable = each.points.filter((point) => point.epsilon <= epsilon * (1 + 1e-9));
    return affordable.length ? affordable[affordable.length - 1] : null;
  };

  const show = (index, epsilon, whole) => {
    const card = document.getElementById(`statistic-${index}`);
    const points = seriesOf(index).points;
    const point = pointFor({ points }, epsilon);
    const percent = `${Math.round((100 * Math.max(epsilon, 0)) / whole)}%`;
    card.querySelector(".part").textContent = percent;
    if (!card.querySelector("svg")) {
      card.querySelector(".epsilon").textContent = String(Number(Math.max(epsilon, 0).toPrecision(4)));
      return;
    }
    const within = card.querySelector(".within");
    const was = card.querySelector(".was");
    card.classList.toggle("wanting", !point);
    within.textContent = point ? point.within : "too little";
    was.hidden = was.textContent.endsWith(`: ${within.textContent}`);
    card.querySelector(".epsilon").textContent = point ? point.shown : "0";
    const moved = [rows, contributes].some((slider, at) => slider && slider.value !== starts[at]);
    card.classList.toggle("moved", moved);
    card.querySelector(".chosen").setAttribute("points", points.map((each) => `${each.x},${each.y}`).join(" "));
    const count = card.querySelector(".rows");
    if (count && rows) count.textContent = data.rows[rows.value];
    if (!point) return;
    const mark = card.querySelector(".mark");
    const guide = card.querySelector(".guide");
    mark.setAttribute("cx", point.x);
    mark.setAttribute("cy", point.y);
    guide.setAttribute("d", guide.getAttribute("d").replace(/^M[\d.]+/, `M${point.x}`));
  };

  const refresh = () => {
    const chosen = data.totals[total.value];
    document.getElementById("total-text").textContent = chosen.text;
    total.setAttribute("aria-valuetext", chosen.text);
    const fixed = data.statistics.reduce(
      (sum, each, index) => sum + (each.weight === null ? seriesOf(index).epsilon : 0), 0);
    const open = chosen.epsilon - fixed;
    if (rows) document.getElementById("rows-text").textContent = data.rows[rows.value];
    if (contributes) {
      document.getElementById("contributes-text").textContent = data.contributes[contributes.value].rows;
    }
    sliders.forEach((slider) => {
      const weight = weightOf(Number(slider.dataset.statistic));
      slider.parentElement.querySelector(".weight").textContent = String(Number(weight.toPrecision(3)));
    });
    warning.hidden = open > 0;
    const weights = shared.reduce((sum, index) => sum + weightOf(index), 0);
    data.statistics.forEach((each, index) => {
      const epsilon = each.weight === null ? seriesOf(index).epsilon : (open * weightOf(index)) / weights;
      show(index, epsilon, chosen.epsilon);
    });
  };

  total.addEventListener("input", refresh);
  [rows, contributes].forEach((slider) => slider && slider.addEventListener("input", refresh));
  sliders.forEach((slider) => slider.addEventListener("input", refresh));
  document.getElementById("back").addEventListener("click", () => {
    total.value = planned;
    sliders.forEach((slider) => { slider.value = 0; });
    [rows, contributes].forEach((slider, at) => { if (slider) slider.value = starts[at]; });
    refresh();
  });
})();
