
'use strict';
const box = document.getElementById('search');
const findings = [...document.querySelectorAll('article')].map((article, place) => ({
  parts: [article, document.querySelectorAll('ol.index > li')[place]],
  text: article.textContent.toLowerCase(),
}));
function filter() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = findings.filter(({ parts, text }) => {
    const fits = words.every((word) => text.includes(word));
    for (const part of parts) part.hidden = !fits;
    return fits;
  });
  document.getElementById('count').textContent = words.length ? `${shown.length} of ${findings.length}` : '';
}
box.value = new URLSearchParams(location.search).get('search') ?? '';
box.addEventListener('input', filter);
document.getElementById('filter').hidden = false;
filter();
