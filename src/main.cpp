#include <iostream>
#include <vector>

#include "napkin/cli.hpp"

int main(int argc, char** argv) {
  napkin::handle_signals();
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  return napkin::run(args, std::cin, std::cout, std::cerr);
}
