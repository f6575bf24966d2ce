// Whether the tests run under AddressSanitizer, where everything takes about ten times as long: long tests then take a
// part of their cases.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define NAPKIN_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NAPKIN_SANITIZED 1
#endif
#endif

namespace napkin::test {
#if defined(NAPKIN_SANITIZED)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
}  // namespace napkin::test
