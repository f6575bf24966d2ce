// Scenes -> one HTML page that needs nothing else: the pictures one below another, and where scripts run, a slider that
// shows one at a time. Left and right step; printing shows all.
#include <fmt/format.h>

#include "emit/picture_escape.hpp"
#include "napkin/emit.hpp"

namespace napkin {
namespace {

constexpr std::string_view style = R"(
body { font: 16px/1.4 "DejaVu Sans", Verdana, sans-serif; margin: 1.5rem; background: #ffffff; color: #1c1c1c }
figure { margin: 0 0 2rem; overflow-x: auto }
svg { max-width: 100%; height: auto }
nav { position: sticky; top: 0; background: #ffffff; padding: .5rem 0; display: none }
nav input { width: min(40rem, 60vw); vertical-align: middle }
.stepped nav { display: block }
.stepped figure:not(.shown) { display: none }
@media print { nav, .stepped nav { display: none } .stepped figure:not(.shown) { display: block } }
)";

constexpr std::string_view script = R"(
const figures = [...document.querySelectorAll("figure")];
const slider = document.querySelector("input"), place = document.querySelector("output");
function show() {
  figures.forEach((figure, i) => figure.classList.toggle("shown", i === Number(slider.value) - 1));
  place.textContent = slider.value + " of " + figures.length;
}
slider.addEventListener("input", show);
document.addEventListener("keydown", event => {
  if (event.target === slider) return;
  const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (by === 0) return;
  slider.value = Number(slider.value) + by;
  show();
});
document.body.classList.add("stepped");
show();
)";

}  // namespace

std::string emit_page(const std::vector<Scene>& scenes, const std::string& title) {
  auto text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      xml(title), style);
  if (scenes.size() > 1)
    text += fmt::format(
        "<nav><label>Step <input type=\"range\" min=\"1\" max=\"{}\" value=\"1\"></label> <output></output></nav>\n",
        scenes.size());
  for (std::size_t i = 0; i < scenes.size(); ++i)
    text += fmt::format("<figure>\n{}</figure>\n", emit_svg(scenes[i], fmt::format("step-{}-", i + 1)));
  if (scenes.size() > 1) text += fmt::format("<script>{}</script>\n", script);
  return text + "</body>\n</html>\n";
}

}  // namespace napkin
