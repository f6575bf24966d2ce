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
  CHECK(stream.at("state").at(1) == nlohmann::json{{"name", "mean"}, {"combine", "mean"}});
  std::vector<std::string> rules;
  for (const auto& step : stream.at("trace")) {
    rules.push_back(step.at("rule"));
    CHECK(step.at("before") != step.at("after"));
    CHECK(!step.at("why").get<std::string>().empty());
  }
  CHECK(std::ranges::count(rules, "moments") == 2);
  CHECK(stream.at("trace").at(0).at("before") == "sum[x](X)");
  CHECK(stream.at("trace").at(0).at("after") == "size(x) * mean");
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
