"""What a reader could not read on a page that is open in a browser."""

_UNREADABLE = r"""() => {
  const found = [];
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) found.push(`the page runs out of the screen by ${wide} px`);
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = text;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (front, back) =>
    [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
  const ground = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const layer = colour(getComputedStyle(at).backgroundColor);
      layers.push(layer);
      if (layer[3] === 1) break;
    }
    return layers.reverse().reduce((back, front) => over(front, back), [255, 255, 255, 1]);
  };
  // Relative luminance and contrast of WCAG 2.1.
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement, words = walker.currentNode.textContent.trim();
    if (!words || node.closest("script, style, noscript, option, title, desc")) continue;
    if (!node.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const box = node.getBoundingClientRect();
    if (!box.width || box.right < 0) continue;
    const drawn = node instanceof SVGElement;
    const frame = drawn && node.ownerSVGElement.getBoundingClientRect();
    if (drawn && (box.left < frame.left - 1 || box.right > frame.right + 1 ||
                  box.top < frame.top - 1 || box.bottom > frame.bottom + 1)) {
      found.push(`outside its figure: ${words.slice(0, 40)}`);
    }
    const style = getComputedStyle(node);
    const scale = drawn ? Math.hypot(node.getScreenCTM().a, node.getScreenCTM().b) : 1;
    const size = parseFloat(style.fontSize) * scale;
    if (size < 11) found.push(`${size.toFixed(1)} px: ${words.slice(0, 40)}`);
    const back = ground(node), front = over(colour(drawn ? style.fill : style.color), back);
    const [dark, light] = [luminance(front), luminance(back)].sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) found.push(`contrast ${contrast.toFixed(2)}: ${words.slice(0, 40)}`);
  }
  return [...new Set(found)];
}"""


def unreadable(page):
    """Text too small (11 px), too faint (4.5 to 1) or outside its figure, and too wide a page."""
    return page.evaluate(_UNREADABLE)
