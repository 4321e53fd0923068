
"use strict";
// Divides a total by shares and looks the rest up: every error was computed by the planner.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const total = document.getElementById("total");
  const warning = document.getElementById("warning");
  const sliders = [...document.querySelectorAll("input.share")];
  const planned = total.value;
  document.documentElement.classList.add("scripted");

  const fixed = data.statistics
    .filter((each) => each.weight === null)
    .reduce((sum, each) => sum + each.epsilon, 0);

  // Half an octave a notch.
  const weightOf = (slider) =>
    data.statistics[slider.dataset.statistic].weight * 2 ** (Number(slider.value) / 2);

  const pointFor = (each, epsilon) => {
    const affordable = each.points.filter((point) => point.epsilon <= epsilon * (1 + 1e-9));
    return affordable.length ? affordable[affordable.length - 1] : null;
  };

  const show = (index, epsilon) => {
    const card = document.getElementById(`statistic-${index}`);
    const point = pointFor(data.statistics[index], epsilon);
    const within = card.querySelector(".within");
    within.textContent = point ? point.within : "too little to draw";
    if (!point) return;
    card.querySelector(".epsilon").textContent = point.shown;
    const mark = card.querySelector(".mark");
    const guide = card.querySelector(".guide");
    mark.setAttribute("cx", point.x);
    mark.setAttribute("cy", point.y);
    guide.setAttribute("d", guide.getAttribute("d").replace(/^M[\d.]+/, `M${point.x}`));
  };

  const refresh = () => {
    const chosen = data.totals[total.value];
    document.getElementById("total-text").textContent = chosen.text;
    const open = chosen.epsilon - fixed;
    const weights = sliders.reduce((sum, slider) => sum + weightOf(slider), 0);
    warning.hidden = open > 0 || (sliders.length === 0 && open > -1e-9);
    if (open <= 0) return;
    for (const slider of sliders) {
      show(slider.dataset.statistic, (open * weightOf(slider)) / weights);
    }
  };

  total.addEventListener("input", refresh);
  sliders.forEach((slider) => slider.addEventListener("input", refresh));
  document.getElementById("back").addEventListener("click", () => {
    total.value = planned;
    sliders.forEach((slider) => { slider.value = 0; });
    refresh();
  });
})();
