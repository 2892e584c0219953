// Shows the value of the nearest curve where a picture is pointed at.
for (const figure of document.querySelectorAll("figure")) {
  const shown = figure.appendChild(document.createElement("div"));
  shown.className = "value";
  shown.hidden = true;
  const curves = [...figure.querySelectorAll("polyline[data-words]")].map((line) => ({
    line,
    values: line.dataset.words.split("|"),
    points: line.getAttribute("points").split(" ").map((pair) => pair.split(",").map(Number)),
  }));
  figure.addEventListener("pointermove", (event) => {
    let nearest = null;
    for (const { line, values, points } of curves) {
      const matrix = line.getScreenCTM();
      for (const [index, [x, y]] of points.entries()) {
        const at = new DOMPoint(x, y).matrixTransform(matrix);
        const far = Math.abs(at.x - event.clientX) + Math.abs(at.y - event.clientY) / 8;
        if (nearest === null || far < nearest.far) nearest = { far, at, text: values[index] };
      }
    }
    shown.hidden = nearest === null || nearest.far > 60;
    if (shown.hidden) return;
    const box = figure.getBoundingClientRect();
    shown.textContent = nearest.text;
    const left = nearest.at.x - box.left + figure.scrollLeft + 8;
    shown.style.left = `${Math.min(left, figure.scrollLeft + box.width - shown.offsetWidth - 4)}px`;
    shown.style.top = `${nearest.at.y - box.top - 28}px`;
  });
  figure.addEventListener("pointerleave", () => {
    shown.hidden = true;
  });
}
