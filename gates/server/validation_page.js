'use strict';
// The page of the validation server: talks to /v1 alone. Texts of others reach
// the page as text only, never as HTML.
(() => {
  const byId = (id) => document.getElementById(id);
  const state = {
    token: sessionStorage.getItem('token') || '',
    shown: '',
    chosen: [],
    oldest: 0
  };

  function tell(text, isWrong = false) {
    byId('told').textContent = text;
    byId('told').className = isWrong ? 'wrong' : '';
  }

  async function ask(path, options = {}) {
    const answer = await fetch(path, {
      ...options,
      headers: {...options.headers, Authorization: 'Bearer ' + state.token}
    });
    if (answer.ok) return answer;
    let message = 'the server answered ' + answer.status;
    try {
      message = (await answer.json()).error.message;
    } catch (unread) { /* no JSON: the status must do */
    }
    const error = new Error(message);
    error.status = answer.status;
    throw error;
  }

  const askJson = async (path) => (await ask(path)).json();

  // Runs what a person asked for, and tells what went wrong.
  function does(action) {
    return async (...values) => {
      try {
        await action(...values);
      } catch (error) {
        tell(error.message, true);
      }
    };
  }

  function made(name, text, className) {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  }

  // A line may end between the day and the time, and not within them.
  function timeOf(text) {
    const [day, time] = (text || '').split('T');
    const element = made('span');
    element.append(
        made('span', day, 'whole'), ' ',
        made('span', (time || '').replace('Z', ' UTC'), 'whole'));
    return element;
  }

  function bytesText(bytes) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    let value = bytes;
    while (value >= 1024 && unit < units.length - 1) {
      value /= 1024;
      ++unit;
    }
    return (unit === 0 ? value : value.toPrecision(3)) + ' ' + units[unit];
  }

  function showBars(id, rows) {
    const most = Math.max(1, ...rows.map((row) => row.bytes));
    byId(id).replaceChildren(...rows.flatMap((row) => {
      const cell = made('span');
      const bar = made('i');
      bar.style.width = 100 * row.bytes / most + '%';
      cell.append(bar);
      return [made('span', row.name), cell, made('span', bytesText(row.bytes))];
    }));
  }

  function peakOf(measured) {
    const found =
        (measured.metrics ||
         []).find((metric) => metric.kind === 'PEAK_LIVE_USABLE_BYTES');
    return found ? found.value : 0;
  }

  async function showProfile(id) {
    const profile = await askJson(`/v1/trials/${id}/profile`);
    if (state.shown !== id) return;
    const run = (profile.benchmarks || [])[0];
    if (!run) return;
    showBars('stages', [
      {name: 'whole run', bytes: peakOf(run)},
      ...(run.phases || [])
          .map((phase) => ({name: phase.name, bytes: peakOf(phase)}))
    ]);
    showBars(
        'sites',
        (run.peak_attribution || [])
            .slice(0, 12)
            .map((site) => ({name: site.site, bytes: site.live_bytes})));
    byId('profile').hidden = false;
  }

  function showState(trial) {
    if (state.shown !== trial.id) return;
    byId('again').hidden = !trial.can_run_again;
    state.bundle = trial.bundle_sha256;
    byId('trial').hidden = false;
    byId('trial-name').textContent =
        trial.deployment || 'Trial ' + trial.sequence;
    const word = trial.decision || trial.state;
    const badge = made('span', word, 'badge ' + (trial.decision || ''));
    const more =
        trial.state === 'running' && trial.stage ? ': ' + trial.stage : '';
    const mode =
        trial.decision && trial.decision !== 'ACCEPT' && trial.accepted ?
        ` (accepted all the same: the mode is ${trial.mode})` :
        '';
    byId('trial-state')
        .replaceChildren(
            badge,
            document.createTextNode(`${more}${mode}, by ${trial.submitter}, `),
            timeOf(trial.submitted_at));
  }

  // The server's own events, read as they come; EventSource sends no token.
  async function follow(id) {
    const answer = await ask(`/v1/trials/${id}/events`);
    const reader = answer.body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const {done, value} = await reader.read();
      if (done || state.shown !== id) {
        reader.cancel();
        return;
      }
      rest += decoder.decode(value, {stream: true});
      const lines = rest.split('\n');
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith('data: ')) showState(JSON.parse(line.slice(6)));
      }
    }
  }

  async function showTrial(id) {
    state.shown = id;
    byId('verdict').hidden = true;
    byId('profile').hidden = true;
    byId('remarks').replaceChildren();
    history.replaceState(null, '', '#' + id);
    let trial = (await askJson(`/v1/trials/${id}`)).trial;
    showState(trial);
    byId('trial-name').focus();
    while (trial.state !== 'decided' && state.shown === id) {
      try {
        await follow(id);
      } catch (error) {
        if (error.status === 401 || error.status === 404) throw error;
        await new Promise((resolve) => {
          setTimeout(resolve, 1000);
        });
      }
      trial = (await askJson(`/v1/trials/${id}`)).trial;
    }
    if (state.shown !== id) return;
    showState(trial);
    const width = innerWidth < 700 ? 44 : 72;
    const verdict =
        await ask(`/v1/trials/${id}/verdict?format=text&all=1&width=${width}`);
    byId('verdict').textContent = await verdict.text();
    byId('verdict').hidden = false;
    byId('remarks').replaceChildren(
        ...(trial.remarks || []).map((remark) => made('li', remark)));
    if (trial.has_profile) await showProfile(id);
  }

  async function hashOf(file) {
    if (!crypto.subtle) {
      throw new Error(
          'the browser hashes files only on pages that come by ' +
          'https or from localhost: open the server by one of them');
    }
    const hash =
        await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
    return [...new Uint8Array(hash)]
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join('');
  }

  // fetch tells nothing of what was sent.
  function send(file, path) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', path);
      request.setRequestHeader('Authorization', 'Bearer ' + state.token);
      request.setRequestHeader('Content-Type', 'application/octet-stream');
      request.upload.onprogress = (event) => {
        byId('sent').value = event.loaded / event.total;
      };
      request.onerror = () =>
          reject(new Error('the connection broke; try again'));
      request.onload = () => {
        let answer = {};
        try {
          answer = JSON.parse(request.responseText);
        } catch (unread) { /* told below */
        }
        if (request.status < 300) {
          resolve(answer);
        } else {
          reject(new Error(
              answer.error ? answer.error.message :
                             'the server answered ' + request.status));
        }
      };
      request.send(file);
    });
  }

  // The list has the trial from its first moment on, and its verdict later.
  async function watch(id) {
    const shown = showTrial(id);
    await showHistory();
    await shown;
    await showHistory();
  }

  const submit = does(async (file) => {
    tell('hashing ' + file.name);
    const sha256 = await hashOf(file);
    tell('sending ' + file.name);
    byId('sent').hidden = false;
    byId('sent').value = 0;
    let answer;
    try {
      answer = await send(file, '/v1/trials?sha256=' + sha256);
    } finally {
      // Before there is a button below that it would push away from a click.
      byId('sent').hidden = true;
    }
    tell(answer.is_new ? 'submitted' : 'this bundle was known');
    await watch(answer.trial.id);
  });

  const runAgain = does(async () => {
    byId('again').hidden = true;
    const answer = await ask(
        `/v1/trials?again=1&sha256=${state.bundle}`, {method: 'POST'});
    tell('submitted again');
    await watch((await answer.json()).trial.id);
  });

  function choose(trial, isChosen) {
    state.chosen = state.chosen.filter((other) => other.id !== trial.id);
    if (isChosen) state.chosen.push(trial);
    while (state.chosen.length > 2) {
      const dropped = state.chosen.shift();
      const box = document.querySelector(`input[value="${dropped.id}"]`);
      if (box) box.checked = false;
    }
    byId('compare').disabled = state.chosen.length !== 2;
  }

  function historyRow(trial) {
    const row = made('tr');
    const box = made('input');
    box.type = 'checkbox';
    box.value = trial.id;
    box.disabled = trial.state !== 'decided';
    box.checked = state.chosen.some((other) => other.id === trial.id);
    box.setAttribute('aria-label', 'compare trial ' + trial.sequence);
    box.onchange = () => choose(trial, box.checked);
    const link = made('a', `${trial.sequence} ${trial.deployment}`);
    link.href = '#' + trial.id;
    link.title = trial.deployment;
    const cells = [
      box, link,
      made(
          'span', trial.decision || trial.state,
          'badge ' + (trial.decision || '')),
      timeOf(trial.submitted_at)
    ];
    for (const content of cells) {
      const cell = made('td');
      cell.append(content);
      row.append(cell);
    }
    return row;
  }

  async function showHistory(goesOn = false) {
    const most = 20;
    const before = goesOn ? state.oldest : 0;
    const name = encodeURIComponent(byId('deployment').value);
    const {trials} = await askJson(
        `/v1/trials?deployment=${name}&before=${before}&most=${most}`);
    const rows = trials.map(historyRow);
    if (goesOn)
      byId('history').append(...rows);
    else
      byId('history').replaceChildren(...rows);
    if (trials.length) state.oldest = trials[trials.length - 1].sequence;
    byId('older').hidden = trials.length < most;
  }

  async function showDeployments() {
    const {deployments} = await askJson('/v1/deployments');
    const chosen = byId('deployment').value;
    byId('deployment')
        .replaceChildren(
            made('option', 'all'),
            ...deployments.filter((each) => each.deployment).map((each) => {
              const option =
                  made('option', `${each.deployment} (${each.trial_count})`);
              option.value = each.deployment;
              return option;
            }));
    byId('deployment').options[0].value = '';
    byId('deployment').value = chosen;
  }

  const compare = does(async () => {
    // The list may show another deployment now.
    const [before, after] =
        [...state.chosen]
            .sort((one, other) => one.sequence - other.sequence)
            .map((trial) => trial.id);
    const answer =
        await ask(`/v1/compare?format=text&before=${before}&after=${after}`);
    byId('difference').textContent = await answer.text();
    byId('comparison').hidden = false;
    byId('comparison-name').focus();
  });

  const refresh = does(async () => {
    await showDeployments();
    await showHistory();
  });

  const begin = does(async () => {
    if (!state.token) return;
    try {
      await showDeployments();
      await showHistory();
    } catch (error) {
      byId('work').hidden = true;
      if (error.status === 401) sessionStorage.removeItem('token');
      throw error;
    }
    sessionStorage.setItem('token', state.token);
    byId('token').value = '';
    byId('work').hidden = false;
    tell('');
    if (/^#[0-9a-f]{64}$/.test(location.hash)) {
      await showTrial(location.hash.slice(1));
    }
  });

  byId('token-form').onsubmit = (event) => {
    event.preventDefault();
    state.token = byId('token').value.trim();
    begin();
  };
  byId('file').onchange = () => {
    const file = byId('file').files[0];
    byId('file').value = '';  // or the same file, changed, is no change
    if (file) submit(file);
  };
  for (const kind of ['dragover', 'dragleave', 'drop']) {
    byId('drop').addEventListener(kind, (event) => {
      event.preventDefault();
      byId('drop').className = kind === 'dragover' ? 'over' : '';
      if (kind !== 'drop') return;
      const file = event.dataTransfer.files[0];
      if (file) submit(file);
    });
  }
  byId('deployment').onchange = refresh;
  byId('refresh').onclick = refresh;
  byId('older').onclick = does(() => showHistory(true));
  byId('compare').onclick = compare;
  byId('again').onclick = runAgain;
  onhashchange = does(() => showTrial(location.hash.slice(1)));
  begin();
})();
