// The further steps of a figure are fetched when a reader comes near it, so that the slider never waits for one.
(function () {
  "use strict";

  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        for (const picture of target.querySelectorAll("img")) picture.loading = "eager";
      }
    },
    { rootMargin: "800px" },
  );
  document.querySelectorAll("figure.stepped").forEach((figure) => near.observe(figure));
})();
