// FNV-1a over the bytes: no secret is kept with it, only a change is seen.
#include "text/fingerprint.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace napkin {

std::string fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace napkin
