// The pages that a person reads first. Each golden is what `napkin analyze` prints for the example of its name on an
// H100; the transformer block is small, since goldens are about words and not about the search.
#include <algorithm>

#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

std::string page_of(const std::string& name, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"analyze", test::example(name), "--target", "h100-sxm5"};
  words.insert(words.end(), more.begin(), more.end());
  const auto ran = test::run_cli(words);
  CHECK(ran.code == exit_done);
  return ran.out;
}

const std::string pages = NAPKIN_SOURCE_DIR "/tests/golden/page/";

}  // namespace

TEST_CASE("pages read as they did", "[page][golden]") {
  check_golden(pages + "attention.txt", page_of("attention"));
  check_golden(pages + "attention_kernel.txt", page_of("attention", {"--kernel", "1"}));
  check_golden(pages + "matmul.txt", page_of("matmul"));
  check_golden(pages + "softmax.txt", page_of("softmax"));
}

TEST_CASE("long pages read as they did", "[page][golden][long]") {
  check_golden(pages + "convolution.txt", page_of("convolution"));
  check_golden(pages + "linear_attention.txt", page_of("linear_attention"));
  check_golden(pages + "transformer_block.txt",
               page_of("transformer_block", {"--set", "t=512", "--set", "x=512", "--set", "c=512", "--set", "f=1024"}));
}

TEST_CASE("the page of one kernel of several says which part of the partition is its own", "[page][cli][long]") {
  const auto ran = test::run_cli({"analyze", test::example("decode"), "--target", "h100-sxm5", "--kernel", "1"});
  CHECK(ran.out.find("its part of --partition: \"S, P, O: group x ") != std::string::npos);
}

TEST_CASE("a kernel that the plan does not have is refused", "[page][cli]") {
  const auto ran = test::run_cli({"analyze", test::example("matmul"), "--target", "h100-sxm5", "--kernel", "2"});
  CHECK(ran.code == exit_command_line);
  CHECK(ran.err.find("the plan has 1 kernel, and no kernel 2") != std::string::npos);
}

TEST_CASE("losing matrix units is said with the edit that mends it", "[page][long]") {
  const auto lost = [](const std::string& type) {
    auto text = test::text_of(test::example("attention"));
    const std::string written = "P: f16[q, x]";
    text.replace(text.find(written), written.size(), "P" + type + "[q, x]");
    return test::run_cli({"analyze", "-", "--target", "h100-sxm5"}, text).out;
  };
  CHECK(lost("").find("tf32 twice: O = P*V") != std::string::npos);
  CHECK(lost("").find("write P: f16: O then takes one product on tensor cores in place of two") != std::string::npos);
  CHECK(lost(": f16").find("on fma lanes") == std::string::npos);
}
