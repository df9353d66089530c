"use strict";
(function () {
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (fold) { fold.open = true; });
  });
  var figure = document.getElementById("node-map");
  if (!figure) { return; }
  var data = JSON.parse(document.getElementById("map-data").textContent);
  var picture = figure.querySelector(".canvas svg"), ties = picture.querySelector(".ties");
  var tip = figure.querySelector(".tip"), told = figure.querySelector(".told");
  var byClass = document.getElementById("map-class"), byNode = document.getElementById("map-node");
  var circles = Array.prototype.slice.call(picture.querySelectorAll(".node"));
  var shown = "", picked = null;
  figure.querySelector(".controls").hidden = false;

  function className(label) { return label < 0 ? "unknown" : data.classes[label]; }
  function visible(point) { return shown === "" || String(point[2]) === shown; }

  function draw(kind, facts) {
    var element = document.createElementNS("http://www.w3.org/2000/svg", kind);
    Object.keys(facts).forEach(function (name) { element.setAttribute(name, facts[name]); });
    ties.appendChild(element);
  }

  function filter(label) {
    shown = label;
    picture.querySelectorAll("[data-class]").forEach(function (element) {
      element.classList.toggle("faded", shown !== "" && element.dataset.class !== shown);
    });
    var count = data.condensed.filter(visible).length, real = data.source.filter(visible).length;
    told.textContent = count + " condensed nodes and " + real + " source nodes of " +
      (shown === "" ? "all classes" : "class " + className(Number(shown))) + " are shown.";
  }

  function pick(place) {
    circles.forEach(function (circle) { circle.classList.toggle("picked", circle.dataset.place === String(place)); });
    ties.replaceChildren();
    picked = place;
    byNode.value = place === null ? "" : String(place);
    if (place === null) { told.textContent = ""; return; }
    var node = data.condensed[place], names = [];
    node[5].forEach(function (at) {
      var real = data.source[at];
      draw("line", { x1: node[0], y1: node[1], x2: real[0], y2: real[1] });
      draw("circle", { cx: real[0], cy: real[1], r: 7 });
      names.push(real[3] + " (" + className(real[2]) + ")");
    });
    var more = node[4] - names.length;
    told.textContent = node[3] + ", class " + className(node[2]) + ", was made of " + node[4] + " real nodes" +
      (names.length ? ": " + names.join(", ") + (more > 0 ? " and " + more + " more" : "") : "") + ".";
  }

  function nearest(x, y, reach) {
    var best = null, least = reach * reach;
    [data.source, data.condensed].forEach(function (points, kind) {
      points.forEach(function (point, place) {
        var across = point[0] - x, down = point[1] - y, away = across * across + down * down;
        if (visible(point) && away <= least + (kind ? 60 : 0)) { least = away; best = [kind, place, point]; }
      });
    });
    return best;
  }

  function place(event) {
    var box = picture.getBoundingClientRect(), unit = picture.viewBox.baseVal.width / box.width;
    return { x: (event.clientX - box.left) * unit, y: (event.clientY - box.top) * unit, unit: unit, box: box };
  }

  picture.addEventListener("pointermove", function (event) {
    var at = place(event), found = nearest(at.x, at.y, 14 * at.unit);
    tip.hidden = !found;
    if (!found) { return; }
    tip.textContent = (found[0] ? "" : "node ") + found[2][3] + " · " + className(found[2][2]);
    var left = found[2][0] / at.unit, top = found[2][1] / at.unit;
    tip.style.left = Math.min(left + 12, Math.max(0, at.box.width - tip.offsetWidth - 4)) + "px";
    tip.style.top = Math.max(4, top - tip.offsetHeight - 10) + "px";
  });
  picture.addEventListener("pointerleave", function () { tip.hidden = true; });
  picture.addEventListener("click", function (event) {
    var at = place(event), found = nearest(at.x, at.y, 14 * at.unit);
    pick(found && found[0] && found[1] !== picked ? found[1] : null);
  });
  byClass.addEventListener("change", function () { filter(byClass.value); });
  byNode.addEventListener("change", function () { pick(byNode.value === "" ? null : Number(byNode.value)); });
}());
