// Whether the library runs under AddressSanitizer, where everything takes about ten times as long. Cases with the
// tag [long] are left out there.
#pragma once

namespace napkin::test {
#if defined(NAPKIN_SANITIZED)  // by the build: tests themselves are not watched
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
}  // namespace napkin::test
