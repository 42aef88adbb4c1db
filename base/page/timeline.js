// Reads single points of the timelines of a page; see timeline.h.
'use strict';
(() => {
  const KEYS_PER_PAGE = 10;

  const formatBytes = (bytes) => {
    const exact = `${bytes.toLocaleString('en')} B`;
    const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let value = bytes;
    let unit = '';
    while (Math.abs(value) >= 1024 && units.length > 0) {
      value /= 1024;
      unit = units.shift();
    }
    return unit === '' ? exact : `${value.toPrecision(4)} ${unit} (${exact})`;
  };

  class Timeline {
    constructor(figure) {
      this.data = JSON.parse(figure.querySelector('script').textContent);
      if (this.data.times.length === 0) return;
      this.told = figure.querySelector('.timeline-told');
      this.picture = figure.querySelector('.timeline-read');
      this.cursors = [...this.picture.querySelectorAll('svg')].map((svg) => {
        const [left, top, right, bottom] =
            svg.dataset.plot.split(' ').map(Number);
        const cursor =
            document.createElementNS('http://www.w3.org/2000/svg', 'path');
        cursor.setAttribute('class', 'cursor');
        svg.append(cursor);
        return {svg, cursor, left, top, right, bottom};
      });
      const {times} = this.data;
      this.begin = times[0];
      this.span = Math.max(1, times[times.length - 1] - times[0]);
      this.at = this.data.marked;
      this.setRole(figure.querySelector('figcaption').textContent);
      this.listen();
      this.told.textContent = `${this.text(this.at)}. ` +
          'Point at the picture, or use the arrow keys.';
    }

    setRole(name) {
      this.picture.tabIndex = 0;
      const attributes = {
        'role': 'slider',
        'aria-label': name,
        'aria-valuemin': 0,
        'aria-valuemax': this.data.times.length - 1,
        'aria-valuenow': this.at,
        'aria-valuetext': this.text(this.at),
      };
      for (const [key, value] of Object.entries(attributes)) {
        this.picture.setAttribute(key, value);
      }
    }

    text(i) {
      const {times, bytes, series, names, marked} = this.data;
      const name = names.length > 1 ? `, ${names[series[i]]}` : '';
      return `${i === marked ? 'peak, ' : ''}after ${
          (times[i] / 1e9).toFixed(3)} s: ${formatBytes(bytes[i])}${name}`;
    }

    show(i) {
      const {times} = this.data;
      this.at = Math.max(0, Math.min(times.length - 1, i));
      this.told.textContent = this.text(this.at);
      this.picture.setAttribute('aria-valuenow', this.at);
      this.picture.setAttribute('aria-valuetext', this.text(this.at));
      const share = (times[this.at] - this.begin) / this.span;
      for (const {cursor, left, top, right, bottom} of this.cursors) {
        const x = (left + (right - left) * share).toFixed(1);
        cursor.setAttribute('d', `M${x} ${top}V${bottom}`);
      }
    }

    // The point whose time is nearest.
    nearest(time) {
      const {times} = this.data;
      let best = 0;
      times.forEach((each, i) => {
        if (Math.abs(each - time) < Math.abs(times[best] - time)) best = i;
      });
      return best;
    }

    listen() {
      const read = (event) => {
        for (const {svg, left, right} of this.cursors) {
          const box = svg.getBoundingClientRect();
          if (box.width === 0) continue;
          const x = (event.clientX - box.left) * svg.viewBox.baseVal.width /
              box.width;
          const share = (x - left) / (right - left);
          this.show(this.nearest(this.begin + share * this.span));
        }
      };
      // A flame graph on the page shows who held the bytes then.
      const choose = () =>
          document.dispatchEvent(new CustomEvent('timeline-moment', {
            detail: {
              time: this.data.times[this.at],
              isPeak: this.at === this.data.marked,
            },
          }));
      this.picture.addEventListener('pointermove', read);
      this.picture.addEventListener('pointerdown', (event) => {
        read(event);
        choose();
      });
      this.picture.addEventListener('keydown', (event) => {
        const places = {
          'ArrowLeft': this.at - 1,
          'ArrowDown': this.at - 1,
          'ArrowRight': this.at + 1,
          'ArrowUp': this.at + 1,
          'PageDown': this.at - KEYS_PER_PAGE,
          'PageUp': this.at + KEYS_PER_PAGE,
          'Home': 0,
          'End': this.data.times.length - 1,
          'p': this.data.marked,
        };
        if (event.key === 'Enter') choose();
        if (!(event.key in places) || event.ctrlKey || event.metaKey) return;
        this.show(places[event.key]);
        event.preventDefault();
      });
    }
  }

  for (const figure of document.querySelectorAll('figure.timeline')) {
    new Timeline(figure);
  }
})();
