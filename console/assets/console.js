// Keys, copies, and pages that follow what happens. Every page works without it.
(() => {
  "use strict";

  const state = document.getElementById("state");
  const main = () => document.getElementById("main");
  const say = (text) => { if (state) state.textContent = text; };

  // A page is fetched anew when something changed, unless its reader is in the middle of a form.
  let waits = false;
  const busy = () => document.activeElement && document.activeElement.matches("main input, main select, main details *");
  const refresh = () => {
    if (document.hidden || busy()) { waits = true; return; }
    waits = false;
    if (main()) main().dispatchEvent(new Event("refresh"));
  };
  document.addEventListener("focusout", () => { if (waits) setTimeout(() => { if (waits && !busy()) refresh(); }, 200); });

  // One tab of a browser holds the stream, and passes on what it says: HTTP/1.1 has six
  // connections to a host.
  const live = main() && main().dataset.live;
  if (live && "BroadcastChannel" in window) {
    const channel = new BroadcastChannel("cordelia-console");
    channel.onmessage = () => refresh();
    let stream = null;
    let last = "";
    const open = () => {
      if (stream || document.hidden) return;
      stream = new EventSource(live);
      stream.addEventListener("changed", (e) => {
        if (last !== "" && e.data !== last) { channel.postMessage(e.data); refresh(); }
        last = e.data;
        say("Follows what happens.");
      });
      stream.addEventListener("over", () => { stream.close(); say("Your session is over. Run cordelia console for another link."); });
      stream.onerror = () => say("The server does not answer; this page shows what was so before.");
    };
    const close = () => { if (stream) { stream.close(); stream = null; } };
    const lead = () => new Promise((done) => {
      open();
      document.addEventListener("visibilitychange", function look() {
        if (!document.hidden) { open(); if (waits) refresh(); return; }
        close();
        document.removeEventListener("visibilitychange", look);
        done();
      });
    });
    const compete = () => {
      if (document.hidden) return;
      if (!navigator.locks) { open(); return; }
      navigator.locks.request("cordelia-console", lead);
    };
    document.addEventListener("visibilitychange", () => { if (!document.hidden) { compete(); if (waits) refresh(); } });
    compete();
  }

  // j and k go from one thing that waits to the next; a and r decide the one in focus.
  const entries = () => [...document.querySelectorAll("[data-entry]")];
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target.matches("input, select, textarea")) return;
    const list = entries();
    const at = list.findIndex((one) => one.contains(document.activeElement));
    if (e.key === "j" || e.key === "k") {
      const next = list[e.key === "j" ? Math.min(at + 1, list.length - 1) : Math.max(at - 1, 0)];
      const link = next && next.querySelector("a");
      if (link) { link.focus(); next.scrollIntoView({ block: "nearest" }); e.preventDefault(); }
      return;
    }
    if (e.key !== "a" && e.key !== "r") return;
    const place = at >= 0 ? list[at] : list.length === 0 ? main() : null;
    const button = place && place.querySelector(`[data-key="${e.key}"]`);
    if (button) { e.preventDefault(); button.click(); }
  });

  // A click on a short id copies the whole one.
  document.addEventListener("click", (e) => {
    const id = e.target.closest && e.target.closest("[data-copy]");
    if (id && navigator.clipboard) navigator.clipboard.writeText(id.dataset.copy).then(() => say("Copied " + id.dataset.copy), () => {});
  });
})();
