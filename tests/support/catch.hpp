// Catch2 is version 2 on Debian 12 and version 3 elsewhere; both are fine.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
