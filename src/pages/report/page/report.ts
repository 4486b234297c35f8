/** Shows the facts of what is under the pointer or the finger. Everything else on the page works without a script. */
const box = document.getElementById('tooltip')!;
let shown: Element | null = null;

function fill(tip: string): void {
  const [first, ...rest] = tip.split('\n');
  const strong = document.createElement('strong');
  strong.textContent = first;
  const text = document.createElement('span');
  text.textContent = rest.join('\n');
  box.replaceChildren(strong, text);
}

function show(target: Element | null, x: number, y: number): void {
  const tip = target?.getAttribute('data-tip') ?? null;
  box.hidden = tip === null;
  if (target !== shown) {
    shown?.classList.remove('pointed');
    shown = tip === null ? null : target;
    shown?.classList.add('pointed');
    if (tip !== null) fill(tip);
  }
  if (tip === null) return;
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
  const top = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
  box.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

function follow(event: PointerEvent): void {
  const target = event.target instanceof Element ? event.target.closest('[data-tip]') : null;
  show(target, event.clientX, event.clientY);
}

addEventListener('pointermove', follow);
addEventListener('pointerdown', follow);
document.documentElement.addEventListener('pointerleave', () => show(null, 0, 0));
addEventListener('scroll', () => show(null, 0, 0), { passive: true });
