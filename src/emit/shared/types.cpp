// How numbers of every format are stored, read, written and rounded in CUDA C++ and in plain C++, and the helper
// functions that generated code needs.
#include "emit/shared/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "emit/shared/text.hpp"

namespace napkin {
namespace {

constexpr std::array types = {
    CodeType{Datatype::f64, "double", "{0}", "{0}", "{0}", ""},
    CodeType{Datatype::f32, "float", "{0}", "{0}", "{0}", ""},
    CodeType{Datatype::tf32, "float", "{0}", "napkin_tf32({0})", "napkin_tf32({0})", ""},
    CodeType{Datatype::f16, "float", "__half2float({0})", "__float2half({0})", "__half2float(__float2half({0}))",
             "cuda_fp16.h"},
    CodeType{Datatype::bf16, "float", "__bfloat162float({0})", "__float2bfloat16({0})",
             "__bfloat162float(__float2bfloat16({0}))", "cuda_bf16.h"},
    CodeType{Datatype::f8e4m3, "float", "float({0})", "__nv_fp8_e4m3(float({0}))", "float(__nv_fp8_e4m3(float({0})))",
             "cuda_fp8.h"},
    CodeType{Datatype::f8e5m2, "float", "float({0})", "__nv_fp8_e5m2(float({0}))", "float(__nv_fp8_e5m2(float({0})))",
             "cuda_fp8.h"},
    CodeType{Datatype::f8e8m0, "float", "napkin_float({0})", "", "", ""},
    CodeType{Datatype::f4e2m1, "float", "", "", "", "cuda_fp8.h"},
    CodeType{Datatype::i8, "float", "float({0})", "(signed char)napkin_integer({0}, -128, 127)",
             "napkin_integer({0}, -128, 127)", ""},
    CodeType{Datatype::i4, "float", "", "", "", ""},
    CodeType{Datatype::i32, "double", "double({0})", "int(napkin_integer({0}, -2147483648.0, 2147483647.0))",
             "napkin_integer({0}, -2147483648.0, 2147483647.0)", ""},
    CodeType{Datatype::boolean, "float", "{0}", "bool({0})", "float(bool({0}))", ""},
};

// The formats that C++ reads, writes and stores otherwise, and the types in which it stores them.
struct CppType {
  CodeType type;
  std::string_view storage;
};
constexpr std::array cpp_types = {
    CppType{{Datatype::f16, "float", "napkin_float({0})", "napkin_f16::of({0})", "napkin_f16::round({0})", ""},
            "napkin_f16"},
    CppType{{Datatype::bf16, "float", "napkin_float({0})", "napkin_bf16::of({0})", "napkin_bf16::round({0})", ""},
            "napkin_bf16"},
    CppType{{Datatype::f8e4m3, "float", "napkin_float({0})", "napkin_f8e4m3::of({0})", "napkin_f8e4m3::round({0})", ""},
            "napkin_f8e4m3"},
    CppType{{Datatype::f8e5m2, "float", "napkin_float({0})", "napkin_f8e5m2::of({0})", "napkin_f8e5m2::round({0})", ""},
            "napkin_f8e5m2"},
    CppType{{Datatype::boolean, "float", "float({0})", "bool({0})", "float(bool({0}))", ""}, "bool"},
};
const CppType* own_type(Language language, Datatype type) {
  const auto found = std::ranges::find(cpp_types, type, [](const CppType& one) { return one.type.type; });
  return language == Language::cpp && found != cpp_types.end() ? &*found : nullptr;
}

struct Definition {
  std::string_view name;
  std::string_view text;
  bool of_cuda = false;  // C++ has it in napkin_numbers.hpp
  std::string_view other_name = {};

  bool is_used(std::string_view in) const {
    return in.find(name) != in.npos || (!other_name.empty() && in.find(other_name) != in.npos);
  }
};
constexpr std::array definitions = {
    Definition{"napkin_f8e8m0", R"(// A power of two; 255 is no number.
struct napkin_f8e8m0 {
  unsigned char power;  // 127 more
};
@ANYWHERE@ inline float napkin_float(napkin_f8e8m0 scale) {
  const unsigned bits = scale.power == 0 ? 0x400000u : scale.power == 255 ? 0x7fc00000u : (unsigned)scale.power << 23;
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}
)"},
    Definition{"napkin_f4e2m1",
               R"(// Two numbers of 4 bits, the first in the low half: a sign, two bits of exponent and one of fraction.
struct napkin_f4e2m1 {
  unsigned char two;
  using number = @F8E4M3@;

  // Four codes as four numbers of 8 bits, the first the lowest. Those from 1 on move their exponent; 0.5 is 0x30.
  @ANYWHERE@ static unsigned four(unsigned codes) {
    const unsigned pairs = (codes & 0xffu) | (codes & 0xff00u) << 8, all = (pairs | pairs << 4) & 0x0f0f0f0fu;
    const unsigned size = all & 0x07070707u, normal = (size >> 1 | size >> 2) & 0x01010101u;
    const unsigned any = (size | normal) & 0x01010101u;
    return ((size << 2) & (normal * 255u)) + any * 0x30u + ((all & 0x08080808u) << 4);
  }
};
)"},
    Definition{"napkin_i4", R"(// Two whole numbers of 4 bits, the first in the low half.
struct napkin_i4 {
  unsigned char two;
  using number = signed char;

  // Four codes as four numbers of 8 bits, the first the lowest.
  @ANYWHERE@ static unsigned four(unsigned codes) {
    const unsigned pairs = (codes & 0xffu) | (codes & 0xff00u) << 8, all = (pairs | pairs << 4) & 0x0f0f0f0fu;
    return all | (all & 0x08080808u) * 30u;
  }
};
)"},
    Definition{"napkin_f4e2m1",
               R"(// What the lowest 4 bits of codes stand for, and a number of an array of two to a byte.
template <class T>
@ANYWHERE@ inline typename T::number napkin_number(unsigned codes) {
  const unsigned char bits = (unsigned char)T::four(codes);
  typename T::number number;
  memcpy(&number, &bits, sizeof number);
  return number;
}
template <class T>
@ANYWHERE@ inline typename T::number napkin_at(const T* from, long long at) {
  return napkin_number<T>(from[at >> 1].two >> ((at & 1) * 4));
}
)",
               false, "napkin_i4"},
    Definition{"pieces(", R"(// The number of tiles of a size that cover a length.
@ANYWHERE@ inline int pieces(int length, int size) { return int((length + (long long)size - 1) / size); }
)"},
    Definition{"napkin_floor_divide(", R"(// Division that rounds towards minus infinity.
template <class T>
@ANYWHERE@ T napkin_floor_divide(T a, int b) {
  return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}
)"},
    Definition{"napkin_max(", R"(// Of two formats in the wider one.
template <class T, class U>
@ANYWHERE@ auto napkin_max(T a, U b) -> decltype(a + b) {
  return fmax(decltype(a + b)(a), decltype(a + b)(b));
}
)",
               true},
    Definition{"napkin_min(", R"(template <class T, class U>
@ANYWHERE@ auto napkin_min(T a, U b) -> decltype(a + b) {
  return fmin(decltype(a + b)(a), decltype(a + b)(b));
}
)",
               true},
    Definition{"napkin_expdiff(", R"(// exp(a - b), and exp(a) where both are the same infinity.
template <class T, class U>
@ANYWHERE@ auto napkin_expdiff(T a, U b) -> decltype(a - b) {
  using Wider = decltype(a - b);
  const Wider difference = Wider(a) - Wider(b);
  return Wider(exp(difference == difference ? difference : Wider(a)));
}
)",
               true},
    Definition{"napkin_power(", R"(template <class T, class E>
@ANYWHERE@ T napkin_power(T base, E exponent) {
  return T(pow(base, T(exponent)));
}
)"},
    Definition{"napkin_whole_power<", R"(template <int exponent, class T>
@ANYWHERE@ T napkin_whole_power(T base) {
  T power = base;
  for (int i = 1; i < exponent; ++i) power *= base;
  return power;
}
)"},
    Definition{"napkin_rsqrt(", R"(template <class T>
@ANYWHERE@ T napkin_rsqrt(T a) {
  return T(1) / sqrt(a);
}
)"},
    Definition{"napkin_tf32(", R"(// To the nearest number with the 10 fraction bits of tf32, ties to even.
@ANYWHERE@ inline float napkin_tf32(float a) {
  unsigned bits;
  memcpy(&bits, &a, sizeof bits);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu;
  memcpy(&a, &bits, sizeof bits);
  return a;
}
)"},
    Definition{"napkin_integer(", R"(// To the nearest whole number between two bounds; 0 for what is no number.
template <class T>
@ANYWHERE@ T napkin_integer(T a, double least, double greatest) {
  const T whole = rint(a);
  return whole != whole ? T(0) : whole < T(least) ? T(least) : whole > T(greatest) ? T(greatest) : whole;
}
)"},
};

}  // namespace

const CodeType& code_type(Language language, Datatype type) {
  const auto* own = own_type(language, type);
  return own ? own->type : types[static_cast<std::size_t>(type)];
}

std::string_view code_storage(Language language, Datatype type) {
  const auto* own = own_type(language, type);
  return own ? own->storage : row(type).cuda;
}

std::string code_element(const Array& array, std::string_view name, std::string_view offset) {
  return fmt::format(fmt::runtime(array.packed ? "napkin_at({}, {})" : "{}[{}]"), name, offset);
}

std::string code_as_stored(Language language, Datatype type, std::string_view text) {
  const auto storage = code_storage(language, type);
  if (storage.find(' ') == storage.npos) return fmt::format("{}({})", storage, text);
  return fmt::format("static_cast<{}>({})", storage, text.empty() ? "0" : text);
}

std::string_view code_of(Language language, const Pointwise& function) {
  return language == Language::cuda ? function.cuda : function.cpp;
}

bool is_wide(Datatype type) { return code_type(Language::cuda, type).own == "double"; }

std::string filled(std::string_view row, std::string_view value) {
  if (row.empty()) throw std::logic_error("no code reads or writes a number of this format by itself");
  return fmt::format(fmt::runtime(row), value);
}

std::string code_definitions(Language language, std::string_view used_in) {
  const std::string where = language == Language::cuda ? "__host__ __device__ " : "";
  std::string text;
  for (const auto& definition : definitions)
    if (definition.is_used(used_in) && (language == Language::cuda || !definition.of_cuda))
      text += replaced(std::string(definition.text),
                       {{"@ANYWHERE@ ", where}, {"@F8E4M3@", std::string(code_storage(language, Datatype::f8e4m3))}}) +
              "\n";
  return text;
}

std::string cuda_headers(std::string_view used_in) {
  std::string text;
  std::string_view last;
  for (const auto& type : types)
    if (!type.header.empty() && type.header != last && used_in.find(row(type.type).cuda) != std::string_view::npos) {
      text += fmt::format("#include <{}>\n", type.header);
      last = type.header;
    }
  return text;
}

}  // namespace napkin
