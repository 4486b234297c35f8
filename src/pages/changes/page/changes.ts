/**
 * Shows times in the reader's time zone, with UTC under the pointer. Everything else on the page works without a
 * script, and without one the times are UTC.
 */
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

for (const time of document.querySelectorAll('time')) {
  time.title = time.textContent;
  time.textContent = moment.format(new Date(time.dateTime));
}
const zone = document.getElementById('zone')!;
zone.textContent = `Times are of your time zone (${moment.resolvedOptions().timeZone}); the pointer shows UTC.`;

export {};
