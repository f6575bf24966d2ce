// What must hold between the numbers of a profile: a hierarchy narrows in room and widens in bandwidth, nothing is
// reached beyond its peak, and numbers that say the same thing agree.
#pragma once

#include <string>

#include "hardware/reader.hpp"

namespace napkin::profile {

// The whole machine, once it is read.
void check_levels(Reader&);
// Names are plain words, and no text holds a character that is not printed.
void check_texts(Reader&, const Node& root);
// A rate whose sustained number stands at `path`.
void check_sustained(const Rate&, const std::string& path, Reader&);
// Makes a sustained rate of a fraction that stands at `path`, where there is a peak to take it of.
void sustain(Rate&, const Sourced<double>& fraction, const std::string& path, Reader&);
// A written number against the same one derived from others.
void check_agreement(const Figure& written, const Sourced<double>& derived, const Figure& from, Reader&);

}  // namespace napkin::profile
