// Scenes -> one HTML page that needs nothing else: the pictures one below another, and where scripts run, a slider that
// shows one at a time. Printing shows all.
#include "pictures/page.hpp"

#include <fmt/format.h>

#include <cmath>

#include "napkin/pictures.hpp"
#include "text/escape.hpp"

namespace napkin {

std::string_view page_style();   // src/pictures/page.css
std::string_view page_script();  // src/pictures/page.js

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}\n{}\n@media screen and (prefers-color-scheme: dark) "
      "{{\n{}}}</style>\n</head>\n<body>\n<main>\n{}</main>\n<script>{}</script>\n</body>\n</html>\n",
      xml(title), svg_style(), page_style(), svg_dark_series(), body, page_script());
}

std::string html_figure(const Scene& scene, const std::string& id, SvgDetail detail) {
  return fmt::format("<figure class=\"scroll\" tabindex=\"0\" aria-label=\"{}\">\n{}</figure>\n", xml(scene.title),
                     svg_element(scene, {id, "", detail}));
}

namespace {

std::string html_figure_again(const Scene& scene, const std::string& id) {
  return fmt::format(
      "<figure class=\"scroll\" tabindex=\"0\" aria-label=\"{0}\">\n<svg "
      "width=\"{1:g}\" height=\"{2:g}\" viewBox=\"0 0 {1:g} {2:g}\" role=\"img\" "
      "aria-labelledby=\"{3}picture-title {3}picture-description\"><use href=\"#{3}picture\"/></svg>\n</figure>\n",
      xml(scene.title), scene.width, scene.height, id);
}

// Pictures of a film are many, and have nothing as thin as bars of charts: whole numbers do.
Scene rounded(Scene scene) {
  const auto whole = [](double& number) { number = std::round(number); };
  for (auto& mark : scene.marks) {
    if (auto* line = std::get_if<Line>(&mark.shape))
      for (auto& point : line->points) whole(point.x), whole(point.y);
    else if (auto* words = std::get_if<Words>(&mark.shape))
      whole(words->at.x), whole(words->at.y);
    else
      for (auto* number : {&std::get<Area>(mark.shape).x, &std::get<Area>(mark.shape).y}) whole(*number);
  }
  return scene;
}

}  // namespace

std::string html_film(const std::vector<Scene>& scenes, const std::string& id, const std::string& again) {
  std::string text = "<div class=\"film\">\n";
  if (scenes.size() > 1)
    text += fmt::format(
        "<nav aria-label=\"Steps\"><button type=\"button\" value=\"-1\">Back</button> <label>Step <input "
        "type=\"range\" min=\"1\" max=\"{}\" value=\"1\"></label> <button type=\"button\" value=\"1\">Next</button> "
        "<output></output></nav>\n",
        scenes.size());
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    const bool there = !again.empty() && i + 1 == scenes.size();
    text += there ? html_figure_again(scenes[i], again)
                  : html_figure(rounded(scenes[i]), fmt::format("{}{}-", id, i + 1), SvgDetail::brief);
  }
  return text + "</div>\n";
}

std::string emit_page(const std::vector<Scene>& scenes, const std::string& title) {
  return html_page(title, fmt::format("<h1>{}</h1>\n{}", xml(title), html_film(scenes, "step-")));
}

}  // namespace napkin
