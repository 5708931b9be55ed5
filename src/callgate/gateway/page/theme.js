// Loaded before anything is drawn, and no module for that reason: the page never flashes in the wrong colours.
(() => {
  const NAME = "callgate.theme";
  const root = document.documentElement;
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

  function chosen() {
    try {
      const theme = JSON.parse(localStorage.getItem(NAME));
      return theme === "light" || theme === "dark" ? theme : null;
    } catch {
      return null;
    }
  }

  function show(theme) {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  }

  const isDark = () => (root.dataset.theme ?? (systemIsDark.matches ? "dark" : "light")) === "dark";

  show(chosen());

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const tell = () => button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", () => {
      const theme = isDark() ? "light" : "dark";
      // Whoever chooses what the system has follows the system again.
      const follows = (theme === "dark") === systemIsDark.matches;
      show(follows ? null : theme);
      try {
        if (follows) localStorage.removeItem(NAME);
        else localStorage.setItem(NAME, JSON.stringify(theme));
      } catch {
        // It holds until the tab is closed.
      }
      tell();
    });
    systemIsDark.addEventListener("change", tell);
    tell();
  });
})();
