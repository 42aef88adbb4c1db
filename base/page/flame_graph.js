// Draws the flame graphs of a page; see flame_graph.h.
'use strict';
(() => {
  const ROW_PIXELS = 21;
  const LEAST_PIXELS = 1.5;  // of a call that is drawn
  const LEAST_TEXT_PIXELS = 28;

  const element = (name, parent, properties = {}) => parent.appendChild(
      Object.assign(document.createElement(name), properties));

  const rounded = (value) => value.toPrecision(
      Math.max(3, Math.trunc(Math.abs(value)).toString().length));

  const inUnit = (value, base, units) => {
    let i = 0;
    while (Math.abs(value) >= base && i + 1 < units.length) {
      value /= base;
      ++i;
    }
    return `${rounded(value)} ${units[i]}`;
  };

  const format = (value, unit) => {
    if (value < 0) return `-${format(-value, unit)}`;
    if (unit === 'ns') return inUnit(value, 1000, ['ns', 'us', 'ms', 's']);
    return value < 1024 ?
        `${Math.round(value)} B` :
        inUnit(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
  };

  const percent = (part, whole) =>
      whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : '';

  class FlameGraph {
    constructor(figure) {
      this.data = JSON.parse(figure.querySelector('script').textContent);
      this.told = figure.querySelector('.flame-told');
      this.frame = figure.querySelector('.flame-frame');
      this.calls = figure.querySelector('.flame-calls');
      this.measure = this.data.comparison ? 1 : 0;
      this.shown = -1;  // the call that has the full width; -1: all
      this.focused = -1;
      this.wanted = '';
      this.addUp();
      this.addTools(figure.querySelector('.flame-tools'));
      for (const part of figure.querySelectorAll('[hidden]')) {
        part.hidden = false;
      }
      this.listen();
      this.draw();
      this.tell(-1);
      let width = this.calls.clientWidth;
      new ResizeObserver(() => {
        if (this.calls.clientWidth === width) return;
        width = this.calls.clientWidth;
        this.draw();
      }).observe(this.calls);
    }

    // Sums of each call with what it calls, and of all.
    addUp() {
      const {parents, values} = this.data;
      this.children = parents.map(() => []);
      this.outermost = [];
      this.levels = [];
      parents.forEach((parent, i) => {
        (parent < 0 ? this.outermost : this.children[parent]).push(i);
        this.levels.push(parent < 0 ? 0 : this.levels[parent] + 1);
      });
      this.sums = values.map((column) => this.sumsOf(column));
      this.wholes = this.sums.map(
          (column) => this.outermost.reduce(
              (sum, i) => sum + Math.max(0, column[i]), 0));
    }

    sumsOf(own) {
      const sums = own.slice();
      for (let i = sums.length - 1; i >= 0; --i) {
        const parent = this.data.parents[i];
        if (parent >= 0) sums[parent] += sums[i];
      }
      return sums;
    }

    addTools(tools) {
      const choice = element('fieldset', tools);
      element('legend', choice, {textContent: 'Width'});
      const group = `flame${document.querySelectorAll('.flame label').length}`;
      const radio = (name, isChosen, choose) => {
        const label = element('label', choice);
        const input = element(
            'input', label, {type: 'radio', name: group, checked: isChosen});
        label.append(name);
        input.addEventListener('change', choose);
        return input;
      };
      this.radios = [];
      this.data.measures.forEach((measure, i) => {
        if (measure.moment !== undefined) return;
        this.radios[i] =
            radio(measure.name, i === this.measure, () => this.choose(i));
      });
      this.addMoments(tools, radio);
      this.search = element(
          'input', tools, {type: 'search', placeholder: 'Find a function'});
      this.search.setAttribute('aria-label', 'Find a function or file');
      this.search.addEventListener('input', () => {
        this.wanted = this.search.value.toLowerCase();
        this.draw();
      });
      this.whole =
          element('button', tools, {type: 'button', textContent: 'Show all'});
      this.whole.addEventListener('click', () => this.enlarge(-1));
      this.found = element('span', tools, {className: 'flame-found'});
      this.found.setAttribute('role', 'status');
    }

    choose(measure) {
      this.measure = measure;
      this.draw();
      this.tell(this.focused);
    }

    // One choice for all moments, and a slider for which of them.
    addMoments(tools, radio) {
      const {measures} = this.data;
      this.firstMoment =
          measures.findIndex((measure) => measure.moment !== undefined);
      if (this.firstMoment < 0) return;
      this.ofMoment = radio(
          'at a moment', false, () => this.chooseMoment(this.slider.value));
      this.slider = element('input', tools, {
        type: 'range',
        min: 0,
        max: measures.length - 1 - this.firstMoment,
        value: 0,
        className: 'flame-moment',
      });
      this.slider.setAttribute('aria-label', 'Moment');
      this.slider.addEventListener(
          'input', () => this.chooseMoment(this.slider.value));
      document.addEventListener(
          'timeline-moment', (event) => this.chooseTime(event.detail));
    }

    chooseMoment(number) {
      const measure = this.firstMoment + Number(number);
      this.slider.value = number;
      this.slider.setAttribute(
          'aria-valuetext', this.data.measures[measure].name);
      this.ofMoment.checked = true;
      this.choose(measure);
    }

    // The last moment that is not after the time; the peak is a measure itself.
    chooseTime({time, isPeak}) {
      if (isPeak) {
        this.radios[0].checked = true;
        this.choose(0);
        return;
      }
      const moments = this.data.measures.slice(this.firstMoment);
      const later = moments.findIndex((measure) => measure.moment > time);
      this.chooseMoment(Math.max(0, (later < 0 ? moments.length : later) - 1));
    }

    name(i) {
      return this.data.texts[this.data.names[i]];
    }

    detail(i) {
      return this.data.texts[this.data.details[i]];
    }

    isWanted(i) {
      return `${this.name(i)} ${this.detail(i)}`.toLowerCase().includes(
          this.wanted);
    }

    // Calls from the outermost to `i`.
    pathTo(i) {
      const path = [];
      for (; i >= 0; i = this.data.parents[i]) path.unshift(i);
      return path;
    }

    draw() {
      const hadFocus = this.calls.contains(document.activeElement);
      this.boxes = new Map();
      this.calls.replaceChildren();
      const width = this.calls.clientWidth;
      const path = this.pathTo(this.shown);
      path.forEach((i) => this.addBox(i, 0, width, i !== this.shown));
      const calls = this.shown < 0 ? this.outermost : this.children[this.shown];
      const whole = this.shown < 0 ? this.wholes[this.measure] :
                                     this.sums[this.measure][this.shown];
      this.addBoxes(calls, 0, whole > 0 ? width / whole : 0);
      const rows =
          1 + Math.max(0, ...[...this.boxes.keys()].map((i) => this.levels[i]));
      this.calls.style.height = `${rows * ROW_PIXELS}px`;
      this.whole.disabled = this.shown < 0;
      this.tellFound();
      if (!this.boxes.has(this.focused)) {
        this.focused = this.shown >= 0 ? this.shown : -1;
      }
      const entry =
          this.boxes.get(this.focused) || this.boxes.values().next().value;
      if (entry) entry.tabIndex = 0;
      if (hadFocus && entry) entry.focus({preventScroll: true});
    }

    // Beside each other, from `left` on, and what they call below them.
    addBoxes(calls, left, scale) {
      const column = this.sums[this.measure];
      for (const i of [...calls].sort((a, b) => column[b] - column[a])) {
        const width = column[i] * scale;
        if (width < LEAST_PIXELS) continue;
        this.addBox(i, left, width, false);
        this.addBoxes(this.children[i], left, scale);
        left += width;
      }
    }

    addBox(i, left, width, isAround) {
      const box = document.createElement('div');
      box.style.left = `${left}px`;
      box.style.top = `${this.levels[i] * ROW_PIXELS}px`;
      box.style.width = `${width}px`;
      this.colour(box, i);
      if (width >= LEAST_TEXT_PIXELS) {
        box.textContent = this.name(i);
      } else {
        box.classList.add('slim');
      }
      box.classList.toggle('around', isAround);
      if (this.wanted !== '') {
        const isHit = this.isWanted(i);
        box.classList.toggle('hit', isHit);
        box.classList.toggle('faded', !isHit);
      }
      box.tabIndex = -1;
      box.dataset.call = i;
      box.setAttribute('role', 'treeitem');
      box.setAttribute('aria-level', this.levels[i] + 1);
      box.setAttribute('aria-label', `${this.name(i)}, ${this.figure(i)}`);
      if (this.children[i].length > 0) {
        box.setAttribute('aria-expanded', 'true');
      }
      this.boxes.set(i, box);
      this.calls.append(box);
    }

    // What `i` grew by in a comparison, and how sure that is.
    change(i) {
      const before = this.measure - this.measure % 2;
      const difference = this.sums[before + 1][i] - this.sums[before][i];
      const {sigmas} = this.data;
      const sigma = Math.hypot(sigmas[before][i], sigmas[before + 1][i]);
      return {difference, sigma, isSure: Math.abs(difference) > 2 * sigma};
    }

    colour(box, i) {
      if (!this.data.comparison) {
        const kind = this.data.kinds[i];
        box.style.background = `var(--c${kind})`;
        box.style.color = `var(--t${kind})`;
        return;
      }
      const {difference, isSure} = this.change(i);
      box.style.background = 'var(--rule)';
      if (!isSure || difference === 0) return;
      const before = this.measure - this.measure % 2;
      const largest = Math.max(this.sums[before][i], this.sums[before + 1][i]);
      const share = Math.min(1, Math.abs(difference) / largest);
      // As a table has it, 0.0 %.
      if (share < 0.0005) return;
      box.style.background =
          `color-mix(in srgb, var(--${difference > 0 ? 'c4' : 'c0'}) ${
              Math.round(20 + 55 * share)}%, var(--paper))`;
    }

    // "1.5 MiB +- 20 KiB (25.0 %)"
    figure(i) {
      const unit = this.data.measures[this.measure].unit;
      const value = this.sums[this.measure][i];
      const sigma = this.data.sigmas[this.measure][i] || 0;
      const share = percent(value, this.wholes[this.measure]);
      return format(value, unit) +
          (sigma >= 1 ? ` \u00b1 ${format(sigma, unit)}` : '') +
          (share ? ` (${share})` : '');
    }

    tell(i) {
      this.told.replaceChildren();
      const {measures, values} = this.data;
      const {unit, name} = measures[this.measure];
      if (i < 0) {
        const whole = this.wholes[this.measure];
        this.told.append(
            whole > 0 ? `All, ${name}: ${format(whole, unit)}. Choose a call.` :
                        `Nothing is known ${name}.`);
        return;
      }
      element('b', this.told, {textContent: this.name(i)});
      if (this.detail(i)) this.told.append(` ${this.detail(i)}`);
      element('br', this.told);
      const own = values[this.measure][i];
      this.told.append(
          `${name}: ${this.figure(i)}` +
          (own > 0 && this.children[i].length > 0 ?
               `, ${format(own, unit)} of it itself` :
               ''));
      element('br', this.told);
      element('span', this.told, {
        textContent: this.data.comparison ? this.changeText(i, unit) :
                                            this.otherMeasures(i),
      });
    }

    changeText(i, unit) {
      const {difference, sigma, isSure} = this.change(i);
      if (difference === 0) return 'no change';
      return `change: ${difference > 0 ? '+' : ''}${format(difference, unit)}` +
          (sigma >= 1 ? ` \u00b1 ${format(sigma, unit)}` : '') +
          (isSure ? '' : ', which may be chance');
    }

    otherMeasures(i) {
      return this.data.measures
          .map(
              (measure, m) =>
                  m === this.measure || measure.moment !== undefined ?
                  '' :
                  `${measure.name} ${format(this.sums[m][i], measure.unit)}`)
          .filter((text) => text !== '')
          .join(', ');
    }

    // Nothing is added twice where a call lies below another that was found.
    tellFound() {
      this.found.textContent = '';
      if (this.wanted === '') return;
      let count = 0;
      let sum = 0;
      const isInside = [];
      this.data.parents.forEach((parent, i) => {
        const isBelow = parent >= 0 && isInside[parent];
        const isHit = this.isWanted(i);
        if (isHit) ++count;
        if (isHit && !isBelow) sum += this.sums[this.measure][i];
        isInside.push(isBelow || isHit);
      });
      const {unit} = this.data.measures[this.measure];
      this.found.textContent = count === 0 ?
          'not found' :
          `${count} found: ${format(sum, unit)} (${
              percent(sum, this.wholes[this.measure])})`;
    }

    enlarge(i) {
      this.shown = i;
      this.focused = i;
      this.draw();
      this.tell(i);
    }

    focus(i) {
      const box = this.boxes.get(i);
      if (!box) return;
      for (const other of this.boxes.values()) other.tabIndex = -1;
      box.tabIndex = 0;
      this.focused = i;
      box.focus();
    }

    // The call that a key leads to from `i`; undefined: none.
    next(i, key) {
      const left = (call) => parseFloat(this.boxes.get(call).style.left);
      const row = [...this.boxes.keys()]
                      .filter((call) => this.levels[call] === this.levels[i])
                      .sort((a, b) => left(a) - left(b));
      const place = row.indexOf(i);
      switch (key) {
        case 'ArrowRight':
          return row[place + 1];
        case 'ArrowLeft':
          return row[place - 1];
        case 'ArrowUp':
          return this.data.parents[i];
        case 'ArrowDown': {
          const drawn = this.children[i].filter((call) => this.boxes.has(call));
          return drawn.sort((a, b) => left(a) - left(b))[0];
        }
        case 'Home':
          return this.boxes.keys().next().value;
        default:
          return undefined;
      }
    }

    listen() {
      const callOf = (event) => {
        const box = event.target.closest('[data-call]');
        return box ? Number(box.dataset.call) : -1;
      };
      this.calls.addEventListener('click', (event) => {
        const i = callOf(event);
        if (i >= 0) this.enlarge(i);
      });
      this.calls.addEventListener('pointerover', (event) => {
        const i = callOf(event);
        if (i >= 0) this.tell(i);
      });
      this.calls.addEventListener(
          'pointerleave', () => this.tell(this.focused));
      this.calls.addEventListener('focusin', (event) => {
        this.focused = callOf(event);
        this.tell(this.focused);
      });
      this.calls.addEventListener('keydown', (event) => {
        const i = callOf(event);
        if (i < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
        if (event.key === 'Enter' || event.key === ' ') {
          this.enlarge(i);
        } else if (event.key === 'Escape') {
          this.enlarge(this.shown < 0 ? -1 : this.data.parents[this.shown]);
        } else if (event.key.startsWith('Arrow') || event.key === 'Home') {
          this.focus(this.next(i, event.key));
        } else {
          return;
        }
        event.preventDefault();
      });
    }
  }

  for (const figure of document.querySelectorAll('figure.flame')) {
    new FlameGraph(figure);
  }
})();
