// Live regions, small comforts. Every page works without this file.
"use strict";

// Live: one stream for all regions of a page. Closed when the page is left or hidden; polling where it cannot be had.
(() => {
  const regions = [...document.querySelectorAll("[data-live]")];
  const dot = document.querySelector("[data-live-dot]");
  if (!regions.length) return;
  let stream = null, failures = 0, poll = null, paused = false;
  const stale = document.querySelector("[data-live-stale]");
  const stateNow = () => document.querySelector("[data-live] [data-state]")?.dataset.state;
  const stateThen = stateNow();
  const topics = [...new Set(regions.map((region) => region.dataset.live))];
  const query = topics.map((topic) => "topic=" + encodeURIComponent(topic)).join("&");

  const show = (topic, html) => {
    for (const region of regions) if (region.dataset.live === topic) region.innerHTML = html;
    if (stale && stateNow() !== stateThen) stale.hidden = false;
  };
  const tell = (state, words) => {
    if (!dot) return;
    dot.dataset.state = state;
    dot.textContent = words;
  };
  const close = () => {
    if (stream) stream.close();
    stream = null;
    clearInterval(poll);
    poll = null;
  };
  const ask = async () => {
    for (const topic of topics) {
      const answer = await fetch("/live/now?topic=" + encodeURIComponent(topic));
      if (answer.ok && !answer.redirected) show(topic, await answer.text());
    }
  };
  const open = () => {
    if (stream || poll || paused || document.hidden) return;
    stream = new EventSource("/live?" + query);
    stream.onopen = () => { failures = 0; tell("on", "live"); };
    for (const topic of topics) stream.addEventListener(topic, (event) => show(topic, event.data));
    stream.addEventListener("over", () => { close(); tell("off", "ended"); });
    stream.onerror = () => {
      tell("off", "waiting for the server");
      failures += 1;
      if (failures >= 4 || stream.readyState === EventSource.CLOSED) {
        close();
        poll = setInterval(() => ask().then(() => tell("on", "every 5 s"), () => tell("off", "no answer")), 5000);
      }
    };
  };
  const button = document.querySelector("[data-live-pause]");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      paused = !paused;
      button.setAttribute("aria-pressed", String(paused));
      if (paused) { close(); tell("off", "paused"); } else open();
    });
  }
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
})();

// A form is sent once; a grave deed is asked about.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = form.dataset.ask;
  if (question && !confirm(question)) {
    event.preventDefault();
    return;
  }
  for (const button of form.querySelectorAll("button[type=submit], button:not([type])")) {
    setTimeout(() => { button.disabled = true; }, 0);
    setTimeout(() => { button.disabled = false; }, 5000);
  }
});

// "/" goes to the search field, as in many places.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.querySelector("input[type=search]");
  if (field) { event.preventDefault(); field.focus(); }
});
