// Lines "group<tab>published<tab>predicted<tab>held out", in seconds and as 0 or 1 -> a chart of them, as SVG.
// usage: bench/predict runs it
#include <iostream>
#include <sstream>

#include "napkin/pictures.hpp"

int main() {
  std::vector<napkin::Predicted> all;
  for (std::string line; std::getline(std::cin, line);) {
    napkin::Predicted one;
    std::istringstream words(line);
    std::getline(words, one.group, '\t');
    if (!(words >> one.published_s >> one.predicted_s >> one.held_out)) {
      std::cerr << "not a prediction: " << line << '\n';
      return 2;
    }
    all.push_back(std::move(one));
  }
  std::cout << napkin::emit_svg(napkin::plot(all).scene);
}
