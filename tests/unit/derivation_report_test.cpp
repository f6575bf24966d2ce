// The steps of a derivation as `napkin derive` shows them.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

TEST_CASE("derive prints the steps below the verdicts", "[report]") {
  const auto ran = test::run_cli({"derive", test::example("attention")});
  CHECK(ran.code == exit_done);
  const auto title = ran.out.find("Steps to the stream of x");
  REQUIRE(title != std::string::npos);
  CHECK(ran.out.find("d'    group, stream") < title);
  CHECK(ran.out.find("S3    O = sum[x](P * V)", title) != std::string::npos);
  CHECK(ran.out.find("= sum[x](f16(exp(S - m)) * V / l)", title) != std::string::npos);
  CHECK(ran.out.find("Steps to the stream of q") == std::string::npos);
}

TEST_CASE("the trace as JSON has a rule, an expression before and one after", "[report]") {
  const auto ran = test::run_cli({"derive", test::example("variance"), "--format", "json"});
  const auto json = nlohmann::json::parse(ran.out);
  const auto& kernel = json.at("kernels").at(0);
  CHECK(kernel.at("trace").empty());
  const auto& stream = kernel.at("streamable").at(1);
  CHECK(stream.at("state").at(0) == nlohmann::json{{"name", "mean"}, {"combine", "mean"}});
  std::vector<std::string> rules;
  for (const auto& step : stream.at("trace")) {
    rules.push_back(step.at("rule"));
    CHECK(step.at("before") != step.at("after"));
    CHECK(!step.at("why").get<std::string>().empty());
  }
  CHECK(std::ranges::count(rules, "moments") == 2);
  CHECK(stream.at("trace").at(0).at("before") == "sum[x](X)");
  CHECK(stream.at("trace").at(0).at("after") == "count * mean + l");
}

TEST_CASE("a refusal as JSON says what would mend it", "[report]") {
  const auto ran = test::run_cli({"derive", test::example("softmax"), "--format", "json"});
  const auto json = nlohmann::json::parse(ran.out);
  const auto& refused = json.at("kernels").at(0).at("refused").at(0);
  CHECK(refused.at("reason") == "`P` keeps `x` but needs all of it first");
  CHECK(refused.at("mend") == "fuse it with a statement that reduces `x`, or keep `x` whole");
}

TEST_CASE("steps to a stream name what is whole as the derivation does", "[cli][report]") {
  const auto text = test::run_cli({"derive", test::example("attention")}).out;
  CHECK(text.find("l = sum[x](p) ") != std::string::npos);
  CHECK(text.find("p2") == std::string::npos);
  const auto json = test::run_cli({"derive", test::example("attention"), "--format", "json"}).out;
  CHECK(json.find("\"before\": \"sum[x](p)\"") != std::string::npos);
}

TEST_CASE("what programs compute along the way is called like no statement, and the other state like the state",
          "[report]") {
  const auto programs = [](const std::string& statements) {
    const auto head = "diagram d\naxis h = 3\naxis d = 4\ninput A: f32[h]\ninput B: f32[h]\ninput C: f32[]\n";
    const auto ran = test::run_cli({"derive", "-", "--format", "json"}, head + statements);
    return nlohmann::json::parse(ran.out).at("kernels").at(0).at("streamable").at(0);
  };
  const auto product = programs("Q[] = C[] * 2\nR[] = max[d](prod[h](A[h]) + d)\noutput Q\noutput R\n");
  CHECK(product.at("state").at(0).at("name") == "z");
  const auto sums = programs("Q[d] = max[h](A[h]) + sum[h](A[h]) * d - sum[h](B[h]) / sum[h](A[h] * B[h])\noutput Q\n");
  for (const auto& state : sums.at("state")) {
    const auto name = state.at("name").get<std::string>();
    const auto joined = std::ranges::any_of(sums.at("merge"), [&](const nlohmann::json& line) {
      return line.get<std::string>().find(name + "'") != std::string::npos;
    });
    CHECK(joined);
  }
}
