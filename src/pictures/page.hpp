// The HTML page that pictures and reports stand on: one file that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "napkin/scene.hpp"
#include "pictures/svg.hpp"

namespace napkin {

// `body` is HTML.
std::string html_page(const std::string& title, const std::string& body);

// One picture, and several of which one shows at a time. `id` begins all ids.
std::string html_figure(const Scene&, const std::string& id, SvgDetail);
// Where the last is a picture that the page has already, `again` is what begins the ids there.
std::string html_film(const std::vector<Scene>&, const std::string& id, const std::string& again = "");

}  // namespace napkin
