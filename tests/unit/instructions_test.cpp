// Fragment layouts against the tables of the PTX ISA, "Matrix Fragments for mma.m16n8k..", written here in its words.
#include "napkin/instructions.hpp"

#include <set>

#include "loops/formats.hpp"
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

TEST_CASE("all instructions of warps and of warpgroups sum in one tile") {
  for (const auto& rows : {matrix_instructions(), part_instructions(), warpgroup_instructions()})
    for (const auto& row : rows) {
      CAPTURE(row.name);
      CHECK(row.m == row.warps * accumulator_tile.rows);
      CHECK(row.n == accumulator_tile.columns);
      CHECK((row.a.rows == row.m && row.a.columns == row.k && row.b.rows == row.n && row.b.columns == row.k));
      for (int lane = 0; lane < row.c.lanes; ++lane)
        for (int i = 0; i < accumulator_tile.values(); ++i) {
          const auto half = i / accumulator_tile.lane_columns, pair = i % accumulator_tile.lane_columns;
          const int of_warp = lane % 32;
          const auto first = lane / 32 * accumulator_tile.rows;
          CHECK(place(row.c, lane, i) ==
                Place{first + half * accumulator_tile.groups() + of_warp / accumulator_tile.quads(),
                      of_warp % accumulator_tile.quads() * accumulator_tile.lane_columns + pair});
        }
    }
}

TEST_CASE("the words for a place of a fragment are its layout") {
  const FragmentIndex at{"group", "quad", "i", "1"};
  const auto& f16 = instruction(Datatype::f16);
  CHECK(f16.a.row_text(at) == "group + i % 2 * 8");
  CHECK(f16.a.column_text(at) == "i / 2 * 8 + quad * 2 + 1");
  // Of columns the operands of two tiles, the second behind the first.
  const auto columns = operand_at_once(f16, false);
  CHECK((columns.rows == 16 && columns.columns == 16 && columns.registers == 4));
  CHECK(columns.row_text(at) == "group + i / 2 * 8");
  CHECK(columns.column_text(at) == "i % 2 * 8 + quad * 2 + 1");
  for (int r = 0; r < 4; ++r) CHECK(columns.register_of(columns.at(0, r * 2)) == r);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 8; ++i) {
      const auto [row, column] = f16.b.at(lane, i % 4);
      CHECK(place(columns, lane, i) == Place{row + i / 4 * 8, column});
    }
  const auto& tf32 = instruction(Datatype::tf32);
  CHECK(tf32.a.column_text(at) == "i / 2 * 4 + quad");
  CHECK(in_order_of_sums(tf32.a).column_text(at) == "quad * 2 + i / 2");
}

// Lane 8 * i + r gives the address of row r of matrix i, which lanes then hold in register i.
TEST_CASE("the rows of matrices that lanes ask for are those of the operand's registers") {
  for (const auto& row : matrix_instructions())
    for (const bool rows : {true, false})
      for (const bool transposed : {true, false}) {
        const auto fragment = operand_at_once(row, rows);
        const auto asked = matrix_row(fragment, transposed);
        const int of_register = fragment.values / fragment.registers;
        for (int matrix = 0; matrix < fragment.registers; ++matrix)
          for (int r = 0; r < 8; ++r) {
            const auto first = fragment.at(0, matrix * of_register);
            CHECK(asked.row(8 * matrix + r) == first.row + (transposed ? 0 : r));
            CHECK(asked.column(8 * matrix + r) == first.column + (transposed ? r : 0));
          }
      }
}

TEST_CASE("plans contract as much at a time of products in parts as their instructions") {
  for (const auto& row : part_instructions()) CHECK(row.k == k_of_parts);
}

TEST_CASE("a number that becomes two is where the functions of products in parts take it") {
  for (const auto& row : part_instructions())
    for (const bool rows : {true, false}) {
      const auto fragment = operand_at_once(row, rows);
      std::set<int> registers;
      for (int i = 0; i < fragment.values; i += 2)
        for (int n = 0; n < 2; ++n) registers.insert(part_register(rows, fragment.at(0, i), n));
      CHECK(registers.size() == static_cast<std::size_t>(fragment.registers));
      CHECK(*registers.rbegin() == fragment.registers - 1);
    }
}

TEST_CASE("one architecture has the instructions of warpgroups") {
  CHECK(has_warpgroup_instructions("sm_90a"));
  for (const auto* other : {"sm_90", "sm_80", "sm_89", "sm_100a", ""}) CHECK_FALSE(has_warpgroup_instructions(other));
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

TEST_CASE("m16n8k8 of f16 has its fragments as the PTX ISA says, and is for what contracts no more") {
  const auto* row = find_matrix_instruction(Datatype::f16, 1, 8);
  REQUIRE(row);
  CHECK(row->name == "m16n8k8");
  CHECK((row->a.registers == 2 && row->b.registers == 1 && row->c.registers == 4));
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, thread = lane % 4;
    for (int i = 0; i < 4; ++i) CHECK(place(row->a, lane, i) == Place{i < 2 ? group : group + 8, thread * 2 + (i & 1)});
    // b: row is along k, column along n.
    for (int i = 0; i < 2; ++i) CHECK(place(row->b, lane, i) == Place{group, thread * 2 + i});
    for (int i = 0; i < 4; ++i) CHECK(place(row->c, lane, i) == Place{i < 2 ? group : group + 8, thread * 2 + (i & 1)});
  }
  for (const int contracted : {9, 16, 64}) CHECK(find_matrix_instruction(Datatype::f16, 1, contracted)->k == 16);
  CHECK(instruction(Datatype::f16).k == 16);
  CHECK(find_matrix_instruction(Datatype::bf16, 1, 8)->k == 16);
  CHECK(find_matrix_instruction(Datatype::f16, warpgroup_warps, 8)->k == 16);
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

TEST_CASE("m16n8k32 of s8, e4m3 and e5m2 has its fragments as the PTX ISA says") {
  for (const auto type : {Datatype::i8, Datatype::f8e4m3, Datatype::f8e5m2}) {
    const auto& row = instruction(type);
    CHECK(row.k == 32);
    for (int lane = 0; lane < 32; ++lane) {
      const int group = lane >> 2, thread = lane % 4;
      for (int i = 0; i < 16; ++i) {
        const bool upper = (i >= 0 && i < 4) || (i >= 8 && i < 12);
        CHECK(place(row.a, lane, i) == Place{upper ? group : group + 8, thread * 4 + (i & 3) + (i < 8 ? 0 : 16)});
      }
      for (int i = 0; i < 8; ++i) CHECK(place(row.b, lane, i) == Place{group, thread * 4 + (i & 3) + (i < 4 ? 0 : 16)});
      for (int i = 0; i < 4; ++i)
        CHECK(place(row.c, lane, i) == Place{i < 2 ? group : group + 8, thread * 2 + (i & 1)});
    }
  }
}

TEST_CASE("products of 8 bits are told their types, and those of f8 have a way on machines without them") {
  const auto whole = instruction_definitions("napkin_mma_m16n8k32_i8(c, a, b);");
  CHECK(whole.find("void napkin_mma_m16n8k32_i8(int* c,") != std::string::npos);
  CHECK(whole.find("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%0, %1, %2, %3};") != std::string::npos);
  const auto& row = instruction(Datatype::f8e5m2);
  CHECK(product_name(row) == "napkin_product_f8e5m2");
  CHECK(product_name(instruction(Datatype::i8)) == "napkin_mma_m16n8k32_i8");
  const auto made = product_definitions("napkin_product_f8e5m2(c, a, b);");
  CHECK(made.find("__CUDA_ARCH__ < 890") != std::string::npos);
  const auto used = instruction_definitions(made);
  CHECK(used.find("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                  "{%0, %1, %2, %3};") != std::string::npos);
  CHECK(used.find("m16n8k16.row.col.f32.f16.f16.f32") != std::string::npos);
  CHECK(used.find("e4m3") == std::string::npos);
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

// wgmma.mma_async.m64nNk16: the warps of a warpgroup have 16 rows each, one after another; within them fragments of d
// and of a in registers are those of mma.m16n8k16, side by side along n. CUTLASS writes the same as the layouts
// ((4,8,4),(2,2,N/8)):((128,1,16),(64,8,512)) of d and ((4,8,4),(2,2,2)):((128,1,16),(64,8,512)) of a, to row + 64
// column.
TEST_CASE("m64nNk16 of warpgroups has its fragments as the PTX ISA says") {
  for (const auto type : {Datatype::f16, Datatype::bf16}) {
    const auto* row = find_matrix_instruction(type, 4);
    REQUIRE(row);
    std::set<std::pair<std::int64_t, std::int64_t>> a, c;
    for (int lane = 0; lane < 128; ++lane) {
      const int warp = lane >> 5, group = lane % 32 >> 2, thread = lane % 4;
      for (int i = 0; i < 8; ++i) {
        const Place expected = {warp * 16 + group + i / 2 % 2 * 8, thread * 2 + i % 2 + i / 4 * 8};
        CHECK(place(row->a, lane, i) == expected);
        a.emplace(expected.row, expected.column);
        if (i >= 4) continue;
        CHECK(place(row->c, lane, i) == expected);
        c.emplace(expected.row, expected.column);
      }
    }
    CHECK(a.size() == 64 * 16);
    CHECK(c.size() == 64 * 8);
  }
  CHECK_FALSE(find_matrix_instruction(Datatype::f32, 4));
}

// Section "Shared Memory Matrix Layout": without the swizzle entry (mn, k) of an operand of 2 bytes in rows of W bytes
// stands at ((8, m), ..):((W, SBO), ..) contracted along memory, and at ((W / 2, m), (8, k)):((1, LBO), (W, SBO)) else.
TEST_CASE("the places that a warpgroup's descriptor tells are those of the tile") {
  for (const auto columns : {16, 48, 32, 96, 64, 128, 192}) {
    const auto tile = paneled_tile(32, columns, 2);
    const auto told = operand_place(tile);
    const auto width = tile.panel * 2;
    CAPTURE(columns, width);
    CHECK(width == (told.swizzle == 1 ? 128 : told.swizzle == 2 ? 64 : 32));
    // Chunks of 16 bytes change places by bits 7 and on of the address: Swizzle<B, 4, 3>.
    const auto swizzled = [&](std::int64_t at) { return at ^ (((at >> 7) & (width / 16 - 1)) << 4); };
    for (std::int64_t row = 0; row < 32; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        const auto across =
            column % (width / 2) * 2 + column / (width / 2) * told.leading + row % 8 * width + row / 8 * told.stride;
        CHECK(tile(row, column) * 2 == swizzled(across));
        const auto in_panel = row / 8 * told.stride + row % 8 * width + column % tile.panel * 2;
        CHECK(tile(row, column) * 2 == swizzled(column / tile.panel * 32 * width + in_panel));
      }
  }
}

TEST_CASE("a warpgroup's instructions say what is negated, transposed and summed to") {
  const auto text = instruction_definitions(
      "napkin_warpgroup_m64n16k16_f16<0, 1>(c, a, b); napkin_warpgroup_m64n16k16_bf16_registers<1>(c, a, b);"
      "napkin_copy_box_2d(to, &map, full, x, 0);");
  CHECK(
      text.find("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, "
                "%10, %11;") != std::string::npos);
  CHECK(text.find("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, "
                  "{%8, %9, %10, %11}, %12, 1, 1, 1, %13;") != std::string::npos);
  CHECK(text.find("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
                  "%4}], [%2];") != std::string::npos);
  CHECK(text.find("m64n8k16") == std::string::npos);
  CHECK(
      instruction_definitions("napkin_warpgroup_m64n16k32_f8e4m3<0, 0>(c, a, b);")
          .find("wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, "
                "1;") != std::string::npos);
  CHECK(instruction_definitions("napkin_mma_m16n8k16_f16(c, a, b);").find("wgmma") == std::string::npos);
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
  CHECK(instruction_definitions("napkin_store_x4_transposed(row, from);")
            .find("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%4], {%0, %1, %2, %3};") != std::string::npos);
}
