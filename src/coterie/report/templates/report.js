"use strict";
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("report-data").textContent);

  // Light or dark: as the system is set, until the reader chooses.
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  };
  button.hidden = false;
  name();
  system.addEventListener("change", name);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });

  // Charts. Expressions are interpreted, never compiled, and nothing is ever loaded.
  const loader = vega.loader();
  loader.load = loader.sanitize = () => Promise.reject(new Error("a report loads nothing"));
  const draw = async (place) => {
    const spec = { ...data.charts[Number(place.dataset.chart)], config: data.config };
    const compiled = vegaLite.compile(spec, { logger: vega.logger(vega.Error) }).spec;
    const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vega.expressionInterpreter,
      renderer: "svg",
      container: place,
      loader,
      logLevel: vega.Error,
    });
    await view.runAsync();
    place.dataset.drawn = "yes";
  };
  const drawAll = async () => {
    for (const place of document.querySelectorAll("[data-chart]")) {
      try {
        await draw(place);
      } catch (error) {
        place.dataset.drawn = "no";
        place.textContent = "This chart could not be drawn.";
        console.error(error);
      }
    }
    root.dataset.ready = "yes";
  };

  // The slider of the decision threshold.
  for (const place of document.querySelectorAll(".threshold")) {
    const counts = JSON.parse(place.querySelector("script").textContent);
    const slider = place.querySelector("input");
    const write = (what, text) => {
      place.querySelector(`[data-of=${what}]`).textContent = text;
    };
    const total = (at, costs) => costs.false_positives * counts.false_positives[at] + costs.false_negatives * counts.false_negatives[at];
    const given = () => Object.fromEntries([...place.querySelectorAll("[data-cost]")].map(
      (own) => [own.dataset.cost, Math.max(0, Number(own.value) || 0)]));
    const shown = (number) => number.toLocaleString("en", { maximumSignificantDigits: 6 });
    // The middle of the first run of thresholds with the least costs, as in the table of costs.
    const cheapest = () => {
      const costs = counts.thresholds.map((_, at) => total(at, given()));
      const least = Math.min(...costs), first = costs.indexOf(least);
      let last = first;
      while (last + 1 < costs.length && costs[last + 1] === least) last += 1;
      return first + Math.floor((last - first) / 2);
    };
    const share = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");
    const show = () => {
      const at = Number(slider.value);
      const right = counts.true_positives[at], wrong = counts.false_positives[at], missed = counts.false_negatives[at];
      write("threshold", counts.thresholds[at].toFixed(2));
      write("precision", share(right, right + wrong));
      write("recall", share(right, right + missed));
      write("predicted", (right + wrong).toLocaleString("en"));
      write("false-positives", wrong.toLocaleString("en"));
      write("false-negatives", missed.toLocaleString("en"));
      const best = cheapest();
      write("cheapest", counts.thresholds[best].toFixed(2));
      write("least-costs", shown(total(best, given())));
      write("costs", shown(total(at, given())));
      const command = place.querySelector("[data-command]");
      if (command) command.textContent = command.dataset.command.replaceAll("{threshold}", counts.thresholds[at].toFixed(2));
    };
    slider.addEventListener("input", show);
    for (const own of place.querySelectorAll("[data-cost]")) own.addEventListener("input", show);
    place.querySelector("[data-cheapest]").addEventListener("click", () => { slider.value = cheapest(); show(); });
    show();
  }

  // Tables are sorted by the column whose heading is pressed: once up, once down. Empty cells stay at the end.
  const compare = (one, other) => {
    if (one === "" || other === "") return (one === "") - (other === "");
    const numbers = [Number(one), Number(other)];
    if (numbers.every(Number.isFinite)) return numbers[0] - numbers[1];
    return one.localeCompare(other, "en", { numeric: true });
  };
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((own) => own.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const keyed = [...body.rows].map((row) => [row.querySelectorAll("[data-key]")[place].dataset.key, row]);
        keyed.sort(([one], [other]) => {
          const order = compare(one, other);
          return down && one !== "" && other !== "" ? -order : order;
        });
        body.append(...keyed.map(([, row]) => row));
      });
    });
  }

  // One tree at a time, with buttons or with the arrow keys.
  for (const place of document.querySelectorAll(".trees")) {
    const pictures = [...place.querySelectorAll("figure")];
    const bar = place.querySelector(".pager");
    let at = 0;
    const show = (step) => {
      at = (at + step + pictures.length) % pictures.length;
      pictures.forEach((picture, number) => { picture.hidden = number !== at; });
      const frame = pictures[at].querySelector(".scroll");
      frame.scrollLeft = (frame.scrollWidth - frame.clientWidth) / 2; // the root is in the middle
      bar.querySelector("span").textContent = `${at + 1} of ${pictures.length}`;
    };
    bar.hidden = pictures.length < 2;
    show(0);
    for (const own of bar.querySelectorAll("button")) {
      own.addEventListener("click", () => show(Number(own.dataset.step)));
    }
    place.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step && !event.altKey && !event.ctrlKey && !event.metaKey) {
        show(step);
        event.preventDefault();
      }
    });
  }

  // Where the reader is, in the list of sections.
  const links = new Map([...document.querySelectorAll("nav a")].map((own) => [own.hash.slice(1), own]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        for (const own of links.values()) own.removeAttribute("aria-current");
        links.get(entry.target.id)?.setAttribute("aria-current", "true");
      }
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  document.querySelectorAll("main > section").forEach((own) => seen.observe(own));

  // On paper everything is open.
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((own) => { own.open = true; });
  });

  drawAll();
})();
