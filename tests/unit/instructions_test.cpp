// Fragment layouts against the tables of the PTX ISA, "Matrix Fragments for mma.m16n8k..", written here in its words.
#include "napkin/instructions.hpp"

#include <set>

#include "support/catch.hpp"

using namespace napkin;

namespace {

struct Place {
  std::int64_t row, column;
  bool operator==(const Place&) const = default;
};
Place place(const Fragment& fragment, int lane, int value) {
  const auto [row, column] = fragment.at(lane, value);
  return {row, column};
}

const MatrixInstruction& instruction(Datatype type) {
  const auto* row = find_matrix_instruction(type);
  REQUIRE(row);
  return *row;
}

}  // namespace

TEST_CASE("lanes hold every entry of a fragment once") {
  for (const auto& row : matrix_instructions())
    for (const auto* fragment : {&row.a, &row.b, &row.c}) {
      CAPTURE(function_name(row), fragment->rows, fragment->columns);
      std::set<std::pair<std::int64_t, std::int64_t>> places;
      for (int lane = 0; lane < 32; ++lane)
        for (int value = 0; value < fragment->values; ++value) {
          const auto [r, c] = fragment->at(lane, value);
          CHECK(r < fragment->rows);
          CHECK(c < fragment->columns);
          places.emplace(r, c);
        }
      CHECK(places.size() == static_cast<std::size_t>(fragment->rows * fragment->columns));
      CHECK(places.size() == static_cast<std::size_t>(32 * fragment->values));
    }
}

// groupID = %laneid >> 2, threadID_in_group = %laneid % 4.

TEST_CASE("m16n8k16 of f16 and bf16 has its fragments as the PTX ISA says") {
  for (const auto type : {Datatype::f16, Datatype::bf16}) {
    const auto& row = instruction(type);
    for (int lane = 0; lane < 32; ++lane) {
      const int group = lane >> 2, thread = lane % 4;
      for (int i = 0; i < 8; ++i) {
        const bool upper = (i >= 0 && i < 2) || (i >= 4 && i < 6);
        CHECK(place(row.a, lane, i) == Place{upper ? group : group + 8, thread * 2 + (i & 1) + (i < 4 ? 0 : 8)});
      }
      // b: row is along k, column along n.
      for (int i = 0; i < 4; ++i) CHECK(place(row.b, lane, i) == Place{group, thread * 2 + (i & 1) + (i < 2 ? 0 : 8)});
      for (int i = 0; i < 4; ++i)
        CHECK(place(row.c, lane, i) == Place{i < 2 ? group : group + 8, thread * 2 + (i & 1)});
    }
  }
}

TEST_CASE("m16n8k8 of tf32 has its fragments as the PTX ISA says") {
  const auto& row = instruction(Datatype::tf32);
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, thread = lane % 4;
    const Place a[] = {{group, thread}, {group + 8, thread}, {group, thread + 4}, {group + 8, thread + 4}};
    for (int i = 0; i < 4; ++i) CHECK(place(row.a, lane, i) == a[i]);
    for (int i = 0; i < 2; ++i) CHECK(place(row.b, lane, i) == Place{group, thread + 4 * i});
    for (int i = 0; i < 4; ++i) CHECK(place(row.c, lane, i) == Place{i < 2 ? group : group + 8, thread * 2 + (i & 1)});
  }
}

TEST_CASE("m16n8k32 of s8 has its fragments as the PTX ISA says") {
  const auto& row = instruction(Datatype::i8);
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, thread = lane % 4;
    for (int i = 0; i < 16; ++i) {
      const bool upper = (i >= 0 && i < 4) || (i >= 8 && i < 12);
      CHECK(place(row.a, lane, i) == Place{upper ? group : group + 8, thread * 4 + (i & 3) + (i < 8 ? 0 : 16)});
    }
    for (int i = 0; i < 8; ++i) CHECK(place(row.b, lane, i) == Place{group, thread * 4 + (i & 3) + (i < 4 ? 0 : 16)});
  }
}

TEST_CASE("the result of one product is the first operand of the next where it is") {
  // Two fragments of 8 columns side by side hold, lane by lane, what one of 16 columns asks for.
  for (const auto type : {Datatype::f16, Datatype::bf16}) {
    const auto& row = instruction(type);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 8; ++i) {
        const auto [r, c] = row.c.at(lane, i % 4);
        CHECK(place(row.a, lane, i) == Place{r, c + (i < 4 ? 0 : 8)});
      }
  }
}

TEST_CASE("only the instructions that a text uses are defined") {
  const auto text = instruction_definitions("napkin_mma_m16n8k16_f16(c, a, b); napkin_copy_16(to, from, 16);");
  CHECK(text.find("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                  "{%0, %1, %2, %3};") != std::string::npos);
  CHECK(text.find("cp.async.cg.shared.global [%0], [%1], 16, %2;") != std::string::npos);
  CHECK(text.find("bf16") == std::string::npos);
  CHECK(text.find("ldmatrix") == std::string::npos);
  CHECK(instruction_definitions("napkin_load_x4_transposed(to, row);")
            .find("m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];") != std::string::npos);
}
