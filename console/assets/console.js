// Keys, copies, times, and pages that follow what happens. Every page works without it.
(() => {
  "use strict";

  const main = () => document.getElementById("main");
  const say = (text) => { const state = document.getElementById("state"); if (state) state.textContent = text; };
  const follows = "Follows what happens.";
  const silent = "The server does not answer; this page shows what was so before.";
  const over = "Your session is over: this page shows what was so before. Run cordelia console for another link.";

  // A page is fetched anew when something changed, unless its reader is in the middle of a form.
  let waits = false;
  const busy = () => document.activeElement && document.activeElement.matches("main input, main select, main textarea, main details *");
  const refresh = () => {
    if (document.hidden || busy()) { waits = true; return; }
    waits = false;
    if (main()) main().dispatchEvent(new Event("refresh"));
  };
  document.addEventListener("focusout", () => { if (waits) setTimeout(() => { if (waits && !busy()) refresh(); }, 200); });

  // One visible tab of a browser holds the stream and passes on what it hears: HTTP/1.1 has six
  // connections to a host. The tab that holds the lock holds the stream.
  const live = main() && main().dataset.live;
  if (live && "BroadcastChannel" in window) {
    const channel = new BroadcastChannel("cordelia-console");
    // A page knows the entry of the record that it was made at, and is behind any other.
    const heard = (m) => {
      say(m.says);
      if (m.at && main() && m.at !== main().dataset.at) refresh();
    };
    const tell = (m) => { channel.postMessage(m); heard(m); };
    channel.onmessage = (e) => heard(e.data);

    let stream = null;
    const close = () => { if (stream) { stream.close(); stream = null; } };
    // A stream that the server refused stays closed: the session is over, or the server is busy.
    const refused = async () => {
      close();
      const answer = await fetch(location.href, { redirect: "manual" }).catch(() => null);
      if (answer && answer.status === 401) { tell({ says: over }); return; }
      tell({ says: silent });
      setTimeout(open, 3000);
    };
    const open = () => {
      if (stream || document.hidden) return;
      stream = new EventSource(live);
      stream.addEventListener("changed", (e) => tell({ says: follows, at: e.data }));
      stream.addEventListener("over", () => { close(); tell({ says: over }); });
      stream.onopen = () => tell({ says: follows });
      stream.onerror = () => { if (stream && stream.readyState === EventSource.CLOSED) refused(); else tell({ says: silent }); };
    };
    const hidden = () => new Promise((done) => {
      document.addEventListener("visibilitychange", function look() {
        if (!document.hidden) return;
        document.removeEventListener("visibilitychange", look);
        done();
      });
    });
    const lead = async () => {
      if (document.hidden) return; // another tab may
      open();
      await hidden();
      close();
    };
    let asked = false;
    const compete = async () => {
      if (asked || document.hidden) return;
      asked = true;
      if (navigator.locks) await navigator.locks.request("cordelia-console", lead); else await lead();
      asked = false;
    };
    document.addEventListener("visibilitychange", () => { if (!document.hidden) { compete(); if (waits) refresh(); } });
    compete();
  }

  // Times pass: "3 min ago" grows, and what is left of a lease shrinks.
  const units = [[172800, 86400, "days"], [3600, 3600, "h"], [60, 60, "min"], [0, 1, "s"]];
  const since = (seconds) => {
    const far = Math.abs(seconds);
    const [, size, word] = units.find(([from]) => far >= from);
    return `${Math.floor(far / size)} ${word} ${seconds < 0 ? "from now" : "ago"}`;
  };
  let drawn = Date.now();
  setInterval(() => {
    if (document.hidden) return;
    const now = Date.now();
    const passed = Math.round((now - drawn) / 1000);
    drawn = now;
    document.querySelectorAll("time[datetime]").forEach((t) => {
      const at = Date.parse(t.dateTime);
      if (!Number.isNaN(at)) t.textContent = since(Math.floor((now - at) / 1000));
    });
    document.querySelectorAll("[data-left]").forEach((one) => {
      const left = Math.max(0, Number(one.dataset.left) - passed);
      one.dataset.left = left;
      one.textContent = `${left} s`;
    });
  }, 5000);

  // j and k go from one thing that waits to the next; a and r decide the one in focus.
  const entries = () => [...document.querySelectorAll("[data-entry]")];
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches("input, select, textarea")) return;
    const list = entries();
    const at = list.findIndex((one) => one.contains(document.activeElement));
    if (e.key === "j" || e.key === "k") {
      const next = list[e.key === "j" ? Math.min(at + 1, list.length - 1) : Math.max(at - 1, 0)];
      if (next) { e.preventDefault(); next.querySelector("a, button").focus(); }
      return;
    }
    const place = at >= 0 ? list[at] : list.length === 0 ? main() : null;
    const button = place && place.querySelector(`[data-key="${CSS.escape(e.key)}"]`);
    if (button) { e.preventDefault(); button.click(); }
  });

  // The slider of a replay shows its message once it rests.
  let rest = 0;
  document.addEventListener("input", (e) => {
    const form = e.target.type === "range" && e.target.closest("[data-slider]");
    if (!form) return;
    form.querySelector("output").textContent = `${e.target.value} of ${e.target.max}`;
    clearTimeout(rest);
    rest = setTimeout(() => form.requestSubmit(), 250);
  });

  // A click on a short id copies the whole one.
  document.addEventListener("click", (e) => {
    const id = e.target.closest && e.target.closest("[data-copy]");
    if (id && navigator.clipboard) navigator.clipboard.writeText(id.dataset.copy).then(() => say("Copied " + id.dataset.copy), () => {});
  });
})();
