// The functions that kernels on matrix units call: those of single instructions, which an emulation on the host brings
// itself, and those made of them.
#include "emit/cuda/runtime/functions.hpp"

#include "napkin/instructions.hpp"

namespace napkin {

// The files beside this one.
std::string_view cuda_machine();
std::string_view cuda_exponentials();
std::string_view cuda_tiles();
std::string_view cuda_warpgroups();
std::string_view cuda_pairs();
std::string_view cuda_registers();
std::string_view cuda_bytes();
std::string_view cuda_bytes_f8();
std::string_view cuda_stores();
std::string_view cuda_clusters();
std::string_view cuda_packed();
std::string_view cuda_packed_tiles();
std::string_view cuda_packed_rows();
std::string_view cuda_rows();

std::string warp_definitions(const std::string& used_in) {
  const auto uses = [&](std::string_view call) { return used_in.find(call) != std::string::npos; };
  const bool rows = uses("napkin_values<") || uses("napkin_join_lanes(") || uses("napkin_read_once<");
  const bool by_warpgroups = uses("napkin_warpgroup_"), tiles = by_warpgroups || uses("napkin_load_tile<");
  if (!tiles && !rows) return "";
  const auto only = [](bool used, std::string_view text) { return used ? std::string(text) + "\n" : std::string(); };
  const auto products = product_definitions(used_in);
  const bool packed = uses("napkin_packed<");
  const auto common = only(packed, cuda_packed()) + only(tiles, cuda_tiles()) +
                      only(packed && tiles, cuda_packed_tiles()) + only(by_warpgroups, cuda_warpgroups());
  return "// The machine's own instructions; an emulation of it on the host brings its own.\n#ifndef "
         "NAPKIN_EMULATION\n" +
         instruction_definitions(used_in + products + common) + std::string(cuda_machine()) +
         only(uses("napkin_pack_f8"), cuda_bytes_f8()) + "#endif\n\n" + products + std::string(cuda_exponentials()) +
         common + only(uses("napkin_stage_pair("), cuda_pairs()) + only(uses("napkin_register_"), cuda_registers()) +
         only(uses("napkin_exchange_bytes("), cuda_bytes()) + only(uses("napkin_store_numbers<"), cuda_stores()) +
         only(uses("napkin_release_cluster<"), cuda_clusters()) + only(rows, cuda_rows()) +
         only(packed && rows, cuda_packed_rows());
}

}  // namespace napkin
