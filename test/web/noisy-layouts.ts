// Pages without <main> whose every rendering differs in what is no main text, and only there: by the place of the noise
// (a date, a counter, a token), what a rendering looks like around its content.

export type Layout = (content: string, noise: string) => string;

/** The noise stands behind the content, in such an element. */
const behind =
  (start: string, name = 'div'): Layout =>
  (content, noise) =>
    `<h1>Ink</h1><div>${content}</div>${start}Served on ${noise}, <a href="/imprint">imprint</a></${name}>`;

const before =
  (start: string, name = 'div'): Layout =>
  (content, noise) =>
    `${start}You are visitor ${noise}</${name}><h1>Ink</h1><div>${content}</div>`;

/** The noise stands inside the main text and is not shown. */
const inside =
  (hidden: (noise: string) => string): Layout =>
  (content, noise) =>
    `<main><h1>Ink</h1>${content} ${hidden(noise)}<p>The end.</p></main>`;

const table =
  (cell: string): Layout =>
  (content, noise) =>
    `<table><tr><td>${content}<tr>${cell}Counter: ${noise}<tr><td>Thank you</table>`;

export const NOISY_LAYOUTS: Record<string, Layout> = {
  'id footer': behind('<div id="footer">'),
  'class footer': behind('<div class="footer">'),
  'class site-footer': behind('<div class="wide site-footer">'),
  'class footer-widget': behind('<div class="footer-widget">'),
  'class siteFooter': behind("<div class='siteFooter'>"),
  'footer_2 without quotes': behind('<div class=footer_2>'),
  'a footer in capitals': behind('<DIV CLASS="FOOTER">', 'DIV'),
  'a section called footer': behind('<section class="page-footer">', 'section'),
  'a paragraph called footer': behind('<p class="footer">', 'p'),
  'a paragraph called footer that the next block ends': (content, noise) =>
    `<p>${content}<p id="footer">Served on ${noise}<div>Bye</div>`,
  'role contentinfo': behind('<div role="contentinfo">'),
  'id colophon': behind('<div id="colophon">'),
  'id header': before('<div id="header">'),
  'class site-header': before('<div class="site-header">'),
  'role banner': before('<div role="banner">'),
  'role navigation': before('<ul role="navigation">', 'ul'),
  'role search': before('<form role="search">', 'form'),
  'role complementary': behind('<div role="complementary">'),
  'a sidebar beside several articles': (content, noise) =>
    `<article>${content}</article><article>More of it</article><div class="sidebar">Online: ${noise}</div>`,
  'a sidebar with boxes of its own': behind('<div id="left-sidebar"><div><div>x</div></div>'),
  'a cell called footer': table('<td class="footer">'),
  'a cell called footer, with a table inside': table('<td class="footer"><table><tr><td>x</td></table>'),
  'a region of Drupal': behind('<div class="region region-footer">'),
  'a second sidebar of Drupal': behind('<div class="region region-sidebar-second">'),
  'a bar of Bootstrap': before('<div class="navbar navbar-default navbar-fixed-top">'),
  'a bar on top': before('<div id="topbar">'),
  'a line of copyright': behind('<p class="copyright">', 'p'),
  'a notice of copyright': behind('<div id="copyright-notice">'),
  'an advertisement': behind('<div class="advertisement">'),
  'a cookie banner': behind('<div id="cookie-banner">'),
  'a cookie notice': behind('<div class="cookie-notice-container">'),
  'related posts': behind('<div class="related-posts">'),
  'a share widget': behind('<div class="share-buttons">'),
  'a footer element': behind('<footer>', 'footer'),
  'the hidden attribute': inside((noise) => `<div hidden>${noise}</div>`),
  'display none': inside((noise) => `<p style="display:none">${noise}</p>`),
  'display none, with spaces': inside((noise) => `<p style="color: red; DISPLAY : none !important">${noise}`),
  'visibility hidden': inside((noise) => `<span style='visibility:hidden'>${noise}</span>`),
  'aria-hidden': inside((noise) => `<span aria-hidden="true">${noise}</span>`),
  'a hidden link': inside((noise) => `<a hidden href="/pots">${noise}</a>`),
  'a hidden item': inside((noise) => `<ul><li hidden>${noise}<ul><li>x</ul><li>shown</ul>`),
  'a hidden row': inside((noise) => `<table><tr hidden><td>${noise}<td>x<tr><td>shown</table>`),
  'a hidden term': inside((noise) => `<dl><dt>a<dd hidden>${noise}<dt>b<dd>shown</dl>`),
  'a hidden element of no known name': inside((noise) => `<x-token hidden>${noise}</x-token>`),
  'a template': inside((noise) => `<template><p>${noise}</p></template>`),
  'a noscript': inside((noise) => `<noscript><img alt="">${noise}</noscript>`),
  'a dialog that is not open': inside((noise) => `<dialog>${noise}</dialog>`),
  'a hidden field': inside((noise) => `<form><input type="hidden" name="csrf" value="${noise}"></form>`),
};
