// Nothing silent: launchers say which path ran and why, take the one that is demanded, leave no error behind, and make
// their part of a launch once; harnesses find another path, and what is written past the end; barriers that never come
// are named.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* machine = "h100-sxm5";

// A product by warpgroups, and what reads it by rows.
constexpr const char* two_kernels = R"(diagram two
axis m = 512; axis n = 512; axis k = 512
input A: f16[m, k]; input B: f16[k, n]
C: f16[m, n] = sum[k](A[m, k] * B[k, n])
P: f16[m, n] = softmax[n](C[m, n])
output P
)";
const Case two{
    "paths_two", two_kernels, {"group m 128, n 64, stream k 64 at smem; group m 16 at reg", "group m 8 at smem"}, {}};
const Case attention{
    "paths_attention", case_named("attention").text, {"group q 128, stream x 64 at smem; group q 16 at reg"}, {}};

bool says(const std::string& output, const std::string& words) { return output.find(words) != output.npos; }

EmittedCode emitted(const Planned& planned) {
  return emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
}

// Calls the launcher of `two`, each time as the words in front of it say, and prints what it tells of itself.
constexpr const char* caller = R"(
#include "two.cu"
#include <string>
#include <thread>
static void* room(size_t count) {
  void* pointer = nullptr;
  if (cudaMalloc(&pointer, 2 * count)) std::abort();
  for (size_t i = 0; i < count; ++i) static_cast<__half*>(pointer)[i] = __half(float(i % 7) - 3);
  return pointer;
}
struct Arrays {
  int m, n, k;
  void *a = room(size_t(m) * k), *b = room(size_t(k) * n), *p = room(size_t(m) * n);
  void* space = room(two_workspace_size(m, n, k));
};
static void launch(const char* what, const Arrays& with) {
  emulation::questions = 0;
  const int error = two_launch(with.m, with.n, with.k, with.a, with.b, with.p, with.space, nullptr);
  std::printf("%s: %d, ran %s, %s%s, asked %d, left %d\n", what, error, two_last_path(),
              two_fallback_expected() ? "as expected " : "", two_fallback_reason(), emulation::questions,
              (int)cudaGetLastError());
}
[[maybe_unused]] static void demand(const char* path) { setenv("NAPKIN_DEMAND_PATH", path, 1); }
[[maybe_unused]] static void lack(const char* what) { setenv("NAPKIN_EMULATION_LACKS", what, 1); }
int main() {
  std::printf("planned %s, last <%s>\n", two_planned_path(), two_last_path());
  [[maybe_unused]] const Arrays even{128, 64, 64}, others{128, 64, 64}, smaller{64, 64, 64}, odd{33, 17, 19};
  BODY
}
)";
// What it prints of each launch, by the words in front.
std::map<std::string, std::string> called(const std::string& name, const std::string& body) {
  const auto planned = plan(two, machine);
  const auto code = emitted(planned);
  CAPTURE(code.notes);
  std::string text = caller;
  text.replace(text.find("BODY"), 4, body);
  for (const auto& file : {code.files[0], code.files[1]}) {
    const auto include = fmt::format("#include \"{}\"\n", file.name);
    REQUIRE(says(text, include));
    text.replace(text.find(include), include.size(), file.text);
  }
  const auto ran = emulate::program(name, text);
  INFO(ran.output);
  REQUIRE(ran.status == 0);
  std::map<std::string, std::string> said;
  for (std::size_t at = 0, end = 0; (end = ran.output.find('\n', at)) != std::string::npos; at = end + 1) {
    const auto line = ran.output.substr(at, end - at);
    const auto colon = line.find(": ");
    said[line.substr(0, colon)] = colon == line.npos ? "" : line.substr(colon + 2);
  }
  return said;
}

}  // namespace

TEST_CASE("a launcher says which path ran, and takes the one that is demanded", "[emulated][warpgroups]") {
  auto said = called("paths_said", R"(
  launch("even", even);
  std::thread([] { std::printf("elsewhere <%s>, <%s>\n", two_last_path(), two_fallback_reason()); }).join();
  launch("odd", odd);
  demand("planned");
  launch("even planned", even);
  launch("odd planned", odd);
  demand("warps,rows");
  launch("even by warps", even);
  demand("warpgroups,rows");
  launch("odd by warpgroups", odd);
  for (const char* path : {"warpgroups", "warps,threads", "warps,rows,rows", "warps,", "fast", "warpgroups,rowss"}) {
    demand(path);
    launch(path, even);
  }
  demand("");
  launch("even again", even);
)");
  CHECK(said.contains("planned warpgroups,rows, last <>"));
  CHECK(said.contains("elsewhere <>, <>"));
  CHECK(says(said["even"], "0, ran warpgroups,rows, , "));
  const auto* const why = "as expected warpgroups: rows of `A` do not begin at multiples of 16 bytes";
  CHECK(says(said["odd"], fmt::format("0, ran warps,rows, {},", why)));
  CHECK(says(said["even planned"], "0, ran warpgroups,rows, , "));
  CHECK(says(said["odd planned"], fmt::format("801, ran , {},", why)));
  CHECK(says(said["even by warps"], "0, ran warps,rows, warpgroups: NAPKIN_DEMAND_PATH asks for another path,"));
  CHECK(says(said["odd by warpgroups"], fmt::format("801, ran , {},", why)));
  for (const auto* path : {"warpgroups", "warps,threads", "warps,rows,rows", "warps,", "fast", "warpgroups,rowss"})
    CHECK(says(said[path], "801, ran , NAPKIN_DEMAND_PATH names no path of these kernels,"));
  CHECK(says(said["even again"], "0, ran warpgroups,rows, , "));
}

TEST_CASE("a launcher says what it lacks, and leaves no error behind", "[emulated][warpgroups]") {
  auto said = called("paths_lacks", R"(
  lack("encoder");
  launch("encoder", even);
  lack("attributes");
  launch("attributes", others);
  lack("sm_90a");
  launch("build", smaller);
  lack("attributes hopper");
  launch("device", odd);
  demand("planned");
  launch("device planned", odd);
  lack("");
  demand("");
  emulation::rooms.clear();
  const Arrays wide{128, 1 << 30, 64, nullptr, nullptr, nullptr, nullptr};
  launch("sizes", wide);
)");
  CHECK(says(said["encoder"], "0, ran warps,rows, warpgroups: cuTensorMapEncodeTiled is missing, "));
  CHECK(
      says(said["attributes"], "ran warps,rows, warpgroups: its attributes cannot be read, invalid device function, "));
  CHECK(says(said["build"], "ran warps,rows, warpgroups: the build has no sm_90a code"));
  CHECK(says(said["device"], "ran warps,rows, as expected warpgroups: the device cannot run sm_90a code, "));
  CHECK(says(said["device planned"], "801, ran , as expected warpgroups: the device cannot run sm_90a code, "));
  for (const auto* name : {"encoder", "attributes", "build", "device", "device planned"}) {
    CAPTURE(name, said[name]);
    CHECK(says(said[name], ", left 0"));
  }
  CHECK(says(said["sizes"], "1, ran , , "));
}

TEST_CASE("the host's work for a launch is kept by device, arrays and sizes", "[emulated][warpgroups]") {
  auto said = called("paths_kept", R"(
  launch("first", even);
  launch("again", even);
  launch("other arrays", others);
  launch("other sizes", smaller);
  launch("back", even);
  demand("warps,rows");
  launch("demanded", even);
  demand("");
  emulation::device = 1;
  launch("other device", even);
  launch("there again", even);
  emulation::device = 0;
  launch("home", even);
  for (int m = 8; m <= 64; m += 8) launch("many", Arrays{m, 64, 64, even.a, even.b, even.p, even.space});
  launch("forgotten", even);
  std::memset(even.p, 0xff, 2);
  launch("right", even);
  const __half kept = *static_cast<__half*>(even.p);
  launch("others right", others);
  std::printf("same as others: %d\n", kept.bits == static_cast<__half*>(others.p)->bits);
)");
  const auto asked = [&](const std::string& name) { return !says(said[name], ", asked 0,"); };
  for (const auto* name : {"first", "other arrays", "other sizes", "demanded", "other device", "forgotten"}) {
    CAPTURE(name, said[name]);
    CHECK(asked(name));
    CHECK(says(said[name], "0, ran warp"));
  }
  for (const auto* name : {"again", "back", "there again", "home", "right"}) {
    CAPTURE(name, said[name]);
    CHECK_FALSE(asked(name));
    CHECK(says(said[name], "0, ran warpgroups,rows, , "));
  }
  CHECK(said["same as others"] == "1");
}

TEST_CASE("a harness fails where another path ran than it demands", "[emulated][warpgroups]") {
  const auto planned = plan(two, machine);
  const auto folder = emulate::build("paths_harness", planned.diagram, emitted(planned).files);
  const auto harness = [&](const std::string& before, const std::string& words) {
    auto ran = run(fmt::format("cd {} && {} ./harness {} 2>&1", folder, before, words));
    return std::pair(ran.status, ran.output);
  };
  const std::string even = "m=128 n=64 k=64 ", odd = "m=33 n=17 k=19 ";
  const auto [status, output] = harness("", even);
  CHECK(status == 0);
  CHECK(says(output, "path: warpgroups,rows, planned warpgroups,rows\n"));
  const auto [fallen, fell] = harness("", odd);
  CHECK(fallen == 3);
  CHECK(says(fell, "path: warps,rows, planned warpgroups,rows\n"));
  CHECK(says(fell, "the path has to be warpgroups,rows; warpgroups: rows of `A` do not begin at multiples of 16"));
  CHECK(harness("", odd + "--path any").first == 0);
  CHECK(harness("", odd + "--path warps,rows").first == 0);
  CHECK(harness("", even + "--path warps,rows").first == 3);
  CHECK(harness("NAPKIN_DEMAND_PATH=warps,rows", even).first == 0);
  CHECK(harness("NAPKIN_DEMAND_PATH=warps,rows", even + "--path planned").first == 3);
  CHECK(harness("NAPKIN_DEMAND_PATH=planned", odd).first == 3);
  CHECK(harness("NAPKIN_EMULATION_LACKS=encoder", even).first == 3);
}

TEST_CASE("a harness finds what is written past the end of an output", "[emulated]") {
  const auto planned = plan(two, machine);
  const auto code = emitted(planned);
  const auto with = [&](const std::string& name, const std::string& more) {
    auto files = code.files;
    auto& text = files[2].text;
    text.insert(0, "#undef NAPKIN_MARGIN\n#define NAPKIN_MARGIN 256\n");
    const auto at = text.find("  launch();\n  check_path");
    REQUIRE(at != text.npos);
    text.insert(at, more);
    return emulate::planted(name, planned.diagram, files, "", {}, "m=64 n=64 k=64");
  };
  CHECK_FALSE(says(with("paths_margin", ""), "WRONG"));
  CHECK(says(with("paths_past", "  std::memset(P.device + n.m * n.n_ + 10, 0, 2);\n"),
             "P: written 21 bytes past its end, WRONG"));
}

TEST_CASE("a debug build names the barrier that never comes", "[emulated][warpgroups]") {
  const auto planned = plan(attention, machine);
  const auto with = [&](const std::string& name, const std::vector<emulate::Mistake>& mistakes) {
    auto files = emitted(planned).files;
    files.front().text.insert(0, "#define NAPKIN_DEBUG\n#define NAPKIN_DEBUG_TRIES 100\n");
    return emulate::planted(name, planned.diagram, files, "attention_kernel_warpgroups", mistakes, "q=256 x=456 d=128");
  };
  CHECK(says(with("paths_debug", {}), "good"));
  const auto output = with("paths_bytes", {{"napkin_barrier_expect(K_smem_full + x_slot, 16384);",
                                            "napkin_barrier_expect(K_smem_full + x_slot, 16400);"}});
  CAPTURE(output);
  CHECK(says(output, "attention_kernel_warpgroups, block 0, thread 0: the barrier K_smem_full"));
  CHECK(says(output, "is not complete after 100 tries"));
  CHECK(says(output, "emulation: a trap"));
}

// Behind the last `i` of a `c` stand the numbers of the next: TMA copies them, too.
TEST_CASE("pieces that an array goes on behind are read by warpgroups where they are whole", "[emulated][warpgroups]") {
  const Case each{"paths_unbroken",
                  R"(diagram unbroken
axis t = 128; axis c = 8; axis i = 16; axis d = 128; axis e = 64
input K: f16[t, d]; input V: f16[t, e]
S: f32[d, e] = sum[i, c](K[16 * c + i, d] * V[16 * c + i, e])
output S
)",
                  {"group e 64, d 64, stream c 1 at smem; group d 16 at reg"},
                  {}};
  const auto planned = plan(each, "h100-sxm5");
  const auto folder = emulate::build_driver(each.name, planned.diagram, emitted(planned).files);
  CHECK(emulate::compare(each.text, folder, "t=128 c=8 i=16 d=128 e=64")["warpgroup_operations"] > 0);
  CHECK(emulate::compare(each.text, folder, "t=80 c=5 i=13 d=72 e=40")["warpgroup_operations"] == 0);
  CHECK(emulate::compare(each.text, folder, "t=13 c=1 i=13 d=72 e=40")["warpgroup_operations"] >
        0);  // the arrays end there
}

TEST_CASE("what warpgroups computed is 0 behind the last position, whatever it is multiplied by",
          "[emulated][warpgroups]") {
  const Case each{"paths_computed",
                  R"(diagram computed
axis q = 256; axis t = 1024; axis c = 8; axis i = 64; axis d = 64; axis e = 64
input Q: f16[q, d]; input K: f16[t, d]; input V: f16[t, e]
S[q, c, i] = sum[d](Q[q, d] * K[64 * c + i, d])
P: f16[q, c, i] = exp(S[q, c, i] / 8)
O: f16[q, e] = sum[i, c](P[q, c, i] * V[64 * c + i, e])
output O
)",
                  {"group q 64, stream c 1 at smem; group q 16 at reg"},
                  {}};
  const auto planned = plan(each, "h100-sxm5");
  const auto folder = emulate::build_driver(each.name, planned.diagram, emitted(planned).files);
  for (const std::string sizes : {"q=64 t=400 c=5 i=50 d=64 e=64", "q=70 t=400 c=5 i=33 d=40 e=24"})
    CHECK(emulate::compare(each.text, folder, sizes)["warpgroup_operations"] > 0);
}

TEST_CASE("rows of an even number of halves are copied on their way", "[emulated][tensor]") {
  const std::string text =
      "diagram product\naxis m = 512; axis n = 512; axis k = 512\ninput A: f16[m, k]; input B: f16[k, n]\n"
      "C: f16[m, n] = sum[k](A[m, k] * B[k, n])\noutput C\n";
  const auto planned =
      plan({"", text, {"group m 64, n 64, stream k 32 at smem; group m 16 at reg"}, {}}, "a100-sxm4-80");
  const auto with = [&](const std::string& name, const std::vector<emulate::Mistake>& mistakes) {
    return emulate::planted(name, planned.diagram, emitted(planned).files, "product_kernel(", mistakes,
                            "m=75 n=102 k=86");
  };
  CHECK(says(with("paths_even_rows", {}), "good"));
  CHECK(says(with("paths_even_rows_wait", {{"napkin_copy_wait<", "napkin_copy_wait<9 + ", -1}}), "on its way"));
}
