"""The report page in a real browser: it shows tables and plots, and runs nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from reports.sample_releases import broad_plan
from reports.test_render import hostile_plan, view_of

from dpql.reports.render_html import as_html

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


def _browse(folder: Path, page: str, *options: str) -> tuple[str, str]:
    """Open a page without a screen; return what was printed and logged."""
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    assert BROWSER is not None
    done = subprocess.run(
        [
            BROWSER,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}",
            *options,
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=900,
    )
    return done.stdout, done.stderr


def _console(log: str) -> list[str]:
    return [line for line in log.splitlines() if "CONSOLE" in line]


def test_tables_and_plots_are_in_the_document(tmp_path: Path) -> None:
    """Every value has a row and a plot, and the browser has nothing to complain of."""
    view = view_of(broad_plan())
    tree, log = _browse(tmp_path, as_html(view), "--dump-dom")
    values = sum(len(one.values) for one in view.predicate.statistics)
    assert len(re.findall(r'<svg class="plot"', tree)) == values
    assert len(re.findall(r"<section>", tree)) == len(view.predicate.statistics)
    assert _console(log) == []


def test_planted_violation_is_refused_by_the_policy(tmp_path: Path) -> None:
    """The policy is obeyed: a style, a script and an image put in are refused."""
    planted = (
        "<style>body { color: red }</style><script>document.title = 'run'</script>"
        '<img src="https://example.org/x.png">'
    )
    page = as_html(view_of(broad_plan())).replace("</body>", f"{planted}</body>")
    tree, log = _browse(tmp_path, page, "--dump-dom")
    assert len(_console(log)) >= 3
    assert "<title>run</title>" not in tree


def test_hostile_names_do_nothing(tmp_path: Path) -> None:
    """The browser finds no script, no image and no handler in a hostile report."""
    tree, log = _browse(tmp_path, as_html(view_of(hostile_plan())), "--dump-dom")
    assert not re.search(r"<(script|img|iframe|a|form|object)[ >]", tree)
    assert not re.search(r"<[^>]* on[a-z]+=", tree)
    assert _console(log) == []


def test_page_is_drawn_in_light_and_dark_wide_and_narrow(tmp_path: Path) -> None:
    """Four pictures, all different, none of them blank."""
    page = as_html(view_of(broad_plan()))
    pictures = set()
    for width in (1100, 390):
        for scheme in (0, 1):
            target = tmp_path / f"{width}-{scheme}.png"
            _browse(
                tmp_path,
                page,
                f"--blink-settings=preferredColorScheme={scheme}",
                f"--window-size={width},1500",
                f"--screenshot={target}",
            )
            picture = target.read_bytes()
            assert len(picture) > 20_000
            pictures.add(sha256(picture).hexdigest())
    assert len(pictures) == 4
