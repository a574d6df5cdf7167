// Before a page is printed, what is folded is opened and what is fetched late is fetched. For browsers in which
// paper.css cannot unfold (`::details-content`), and for pictures that no reader has come near.
(function () {
  "use strict";

  let opened = [];

  window.addEventListener("beforeprint", () => {
    for (const picture of document.querySelectorAll("img[loading=lazy]")) picture.loading = "eager";
    opened = [...document.querySelectorAll("article details:not([open])")];
    for (const box of opened) box.open = true;
  });

  window.addEventListener("afterprint", () => {
    for (const box of opened) box.open = false;
    opened = [];
  });
})();
