// Diagrams and kernels written out by hand, for tests of the stages below the derivation, and the machines they run on.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "napkin/cost.hpp"

namespace by_hand {

using namespace napkin;

// Builds a diagram step by step.
struct Drawing {
  Diagram diagram;

  WireId wire(const std::string& name, std::int64_t size) {
    const AxisId axis{static_cast<std::uint32_t>(diagram.axes.size())};
    diagram.axes.push_back({name, size, {}});
    return same_axis(name, axis);
  }
  WireId same_axis(const std::string& name, AxisId axis) {
    diagram.wires.push_back({axis, name});
    return {static_cast<std::uint32_t>(diagram.wires.size() - 1)};
  }
  ArrayId array(const std::string& name, Datatype type, std::vector<WireId> wires) {
    diagram.arrays.push_back({name, type, std::move(wires), {}, {}});
    return {static_cast<std::uint32_t>(diagram.arrays.size() - 1)};
  }
  ExprId number(double value) { return diagram.intern(Constant{value}); }
  ExprId position(WireId wire) { return diagram.intern(Position{wire}); }
  ExprId read(ArrayId array) {
    Access access{array, {}};
    for (const auto wire : diagram.at(array).wires) access.at.push_back({{{wire, 1}}, 0, 1});
    return diagram.intern(access);
  }
  ExprId read(ArrayId array, std::vector<Index> at) { return diagram.intern(Access{array, std::move(at)}); }
  ExprId apply(const std::string& function, std::vector<ExprId> arguments) {
    return diagram.intern(Apply{find_pointwise(function), std::move(arguments)});
  }
  ExprId reduce(const std::string& reduction, std::vector<WireId> over, ExprId body) {
    return diagram.intern(Reduce{find_reduction(reduction), std::move(over), body});
  }
};

inline Column pointwise(ArrayId output, ExprId value) { return {output, value, nullptr, {}, {}, {}}; }
inline Column fold(ArrayId output, const std::string& reduction, std::vector<WireId> over, ExprId value) {
  return {output, value, find_reduction(reduction), std::move(over), {}, {}};
}

// A machine whose levels hold what they like.
inline Hardware machine(const std::vector<std::string>& levels) {
  Hardware hardware;
  hardware.name = "by_hand";
  for (const auto& name : levels) {
    Level level;
    level.name = name;
    hardware.levels.push_back(level);
  }
  return hardware;
}

inline Kernel kernel(Drawing drawing, std::vector<Step> steps, std::vector<ArrayId> inputs,
                     std::vector<ArrayId> outputs, std::vector<Split> splits) {
  auto derivation = std::make_shared<Derivation>();
  derivation->scratch = drawing.diagram;
  derivation->file_arrays = drawing.diagram.arrays.size();
  derivation->inputs = inputs;
  derivation->outputs = outputs;
  return {derivation, {std::move(splits)}, {drawing.diagram, std::move(steps), std::move(inputs), std::move(outputs)}};
}

// A matrix product of a by b with b by c, streamed along b as often as `splits` says.
struct Matmul {
  Drawing drawing;
  WireId a, b, c;
  ArrayId A, B, C, sum;

  Matmul(std::int64_t a_size, std::int64_t b_size, std::int64_t c_size)
      : a(drawing.wire("a", a_size)),
        b(drawing.wire("b", b_size)),
        c(drawing.wire("c", c_size)),
        A(drawing.array("A", Datatype::f16, {a, b})),
        B(drawing.array("B", Datatype::f16, {b, c})),
        C(drawing.array("C", Datatype::f16, {a, c})),
        sum(drawing.array("l", Datatype::f32, {a, c})) {}

  Kernel kernel(std::vector<Split> splits) {
    auto absorb = fold(sum, "sum", {b}, drawing.apply("*", {drawing.read(A), drawing.read(B)}));
    absorb.carried = sum;
    std::vector<Step> body = {absorb};
    std::size_t streams = 0;
    for (const auto& split : splits) streams += split.kind == SplitKind::stream;
    while (streams > 0) body = {Loop{--streams, b, body}};
    body.insert(body.begin(), pointwise(sum, drawing.number(0)));
    body.push_back(pointwise(C, drawing.read(sum)));
    return by_hand::kernel(drawing, body, {A, B}, {C}, std::move(splits));
  }
};

// Attention of one head, streamed along x; `mask` adds x <= q.
struct Attention {
  Drawing drawing;
  WireId q, x, d, d2;
  ArrayId Q, K, V, O, S, m, n, r, P, l, o;
  bool causal;

  Attention(std::int64_t q_size, std::int64_t x_size, std::int64_t d_size, bool mask)
      : q(drawing.wire("q", q_size)),
        x(drawing.wire("x", x_size)),
        d(drawing.wire("d", d_size)),
        d2(drawing.same_axis("d'", drawing.diagram.at(d).axis)),
        Q(drawing.array("Q", Datatype::f16, {q, d})),
        K(drawing.array("K", Datatype::f16, {x, d})),
        V(drawing.array("V", Datatype::f16, {x, d2})),
        O(drawing.array("O", Datatype::f16, {q, d2})),
        S(drawing.array("S", Datatype::f32, {q, x})),
        m(drawing.array("m", Datatype::f32, {q})),
        n(drawing.array("n", Datatype::f32, {q})),
        r(drawing.array("r", Datatype::f32, {q})),
        P(drawing.array("P", Datatype::f16, {q, x})),
        l(drawing.array("l", Datatype::f32, {q})),
        o(drawing.array("o", Datatype::f32, {q, d2})),
        causal(mask) {}

  Kernel kernel(std::vector<Split> splits) {
    auto& draw = drawing;
    const auto scores =
        draw.apply("/", {draw.read(S), draw.apply("sqrt", {draw.diagram.intern(Size{draw.diagram.at(d).axis})})});
    const auto below = draw.apply("<=", {draw.position(x), draw.position(q)});
    const auto masked = causal ? draw.apply("where", {below, scores, draw.number(-HUGE_VAL)}) : scores;
    auto greatest = fold(n, "max", {x}, masked);
    greatest.carried = m;
    auto total = fold(l, "sum", {x}, draw.read(P));
    total.carried = l, total.repair = draw.read(r);
    auto output = fold(o, "sum", {x}, draw.apply("*", {draw.read(P), draw.read(V)}));
    output.carried = o, output.repair = draw.read(r);
    const std::vector<Step> absorb = {
        fold(S, "sum", {d}, draw.apply("*", {draw.read(Q), draw.read(K)})),
        greatest,
        pointwise(r, draw.apply("expdiff", {draw.read(m), draw.read(n)})),
        pointwise(P, draw.apply("expdiff", {masked, draw.read(n)})),
        total,
        output,
        pointwise(m, draw.read(n)),
    };
    std::vector<Step> body = absorb;
    std::size_t streams = 0;
    for (const auto& split : splits) streams += split.kind == SplitKind::stream;
    while (streams > 0) body = {Loop{--streams, x, body}};
    const std::vector<Step> init = {pointwise(m, draw.number(-HUGE_VAL)), pointwise(l, draw.number(0)),
                                    pointwise(o, draw.number(0))};
    body.insert(body.begin(), init.begin(), init.end());
    body.push_back(pointwise(O, draw.apply("/", {draw.read(o), draw.read(l)})));
    return by_hand::kernel(draw, body, {Q, K, V}, {O}, std::move(splits));
  }
};

inline Split group(WireId wire, std::int64_t size, std::size_t level) { return {SplitKind::group, wire, size, level}; }
inline Split stream(WireId wire, std::int64_t size, std::size_t level) {
  return {SplitKind::stream, wire, size, level};
}

}  // namespace by_hand
