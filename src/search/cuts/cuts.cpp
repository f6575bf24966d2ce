// A cut into kernels is a path through sets of finished statements, from none to all. Each kernel is the difference of
// two sets on the path, with the recomputed statements that it needs. Recomputed statements belong to no set; the
// others depend on each other through them.
#include "search/cuts/cuts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "diagram/match.hpp"

namespace napkin {
namespace {

bool includes(const Statements& all, const Statements& some) { return (some & ~all).none(); }

template <class Visit>
void each(const Statements& all, const Visit& visit) {
  for (auto i = all._Find_first(); i < all.size(); i = all._Find_next(i)) visit(i);
}

// Which statements read which. Statements whose results are not needed are left out.
struct Readers {
  std::vector<Statements> reads, readers;  // by statement
  Statements needed, outputs, recomputable;
};

Readers readers_of(const Diagram& diagram) {
  const auto count = diagram.statements.size();
  Readers all{std::vector<Statements>(count), std::vector<Statements>(count), {}, {}, {}};
  std::map<ArrayId, std::size_t> producer;
  for (std::size_t i = 0; i < count; ++i) producer[diagram.statements[i].output] = i;
  for (const auto output : diagram.outputs)
    if (const auto found = producer.find(output); found != producer.end()) all.outputs.set(found->second);
  all.needed = all.outputs;
  for (std::size_t i = count; i-- > 0;) {
    if (!all.needed[i]) continue;
    all.recomputable[i] = may_be_recomputed(diagram, diagram.statements[i]);
    for (const auto array : arrays_read(diagram, diagram.statements[i].value))
      if (const auto found = producer.find(array); found != producer.end()) {
        all.needed.set(found->second);
        all.reads[i].set(found->second);
        all.readers[found->second].set(i);
      }
  }
  return all;
}

// Restricts the relations to some statements. Their results that others read become outputs, and results of others that
// they read become inputs.
Readers among(Readers all, const Statements& of) {
  each(all.needed & ~of, [&](std::size_t i) { all.outputs |= all.reads[i] & of; });
  for (auto* relation : {&all.reads, &all.readers})
    for (std::size_t i = 0; i < relation->size(); ++i) (*relation)[i] = of[i] ? (*relation)[i] & of : Statements{};
  all.needed &= of, all.outputs &= of, all.recomputable &= of;
  return all;
}

// The statements that are not recomputed, with their dependences through the recomputed ones.
class Contracted {
 public:
  Contracted(const Readers& all, const Statements& recomputed)
      : recomputed_(recomputed), kept_(all.needed & ~recomputed), outputs_(all.outputs) {
    reads_.resize(all.reads.size());
    readers_.resize(all.reads.size());
    through_.resize(all.reads.size());
    each(all.needed, [&](std::size_t i) {
      each(all.reads[i], [&](std::size_t j) {
        if (!recomputed[j]) return reads_[i].set(j), void();
        reads_[i] |= reads_[j], through_[i] |= through_[j];
        through_[i].set(j);
      });
    });
    each(kept_, [&](std::size_t i) { each(reads_[i], [&](std::size_t j) { readers_[j].set(i); }); });
  }

  // Returns the sets that contain everything that their statements read, each after its subsets; none if there are more
  // than `most`.
  std::optional<std::vector<Statements>> finished(std::size_t most) const {
    std::vector<Statements> all{Statements{}};
    std::unordered_set<Statements> known{Statements{}};
    for (std::size_t at = 0; at < all.size(); ++at) {
      if (all.size() > most) return std::nullopt;
      each(kept_ & ~all[at], [&](std::size_t i) {
        if (!includes(all[at], reads_[i])) return;
        auto next = all[at];
        next.set(i);
        if (known.insert(next).second) all.push_back(next);
      });
    }
    return all;
  }
  // True if several kept statements need each of the recomputed ones. If only one needs it, a kernel that computes it
  // and does not save it is the same.
  bool is_worth_recomputing() const {
    bool worth = true;
    each(recomputed_, [&](std::size_t i) {
      int needing = 0;
      each(kept_, [&](std::size_t k) { needing += through_[k][i]; });
      worth = worth && needing > 1;
    });
    return worth;
  }
  Cut cut(const Statements& block) const {
    Cut made{block, {}};
    each(block, [&](std::size_t i) {
      made.computed |= through_[i];
      if (outputs_[i] || (readers_[i] & ~block).any()) made.saved.set(i);
    });
    return made;
  }

 private:
  Statements recomputed_, kept_, outputs_;
  std::vector<Statements> reads_, readers_, through_;  // by statement
};

// True if the finished statements are the first ones in the file.
bool is_beginning(const Statements& done, const Statements& all) {
  const auto rest = all & ~done;
  auto last = Statements{};
  each(done, [&](std::size_t i) { last.reset().set(i); });
  return done.none() || rest.none() || last._Find_first() < rest._Find_first();
}

class Drawing {
 public:
  std::size_t cut(const Cut& cut) {
    const auto hash = std::hash<Statements>{}(cut.computed) * 31 + std::hash<Statements>{}(cut.saved);
    for (auto [at, end] = known_.equal_range(hash); at != end; ++at)
      if (cuts.cuts[at->second] == cut) return at->second;
    known_.emplace(hash, cuts.cuts.size());
    cuts.cuts.push_back(cut);
    return cuts.cuts.size() - 1;
  }
  Cuts cuts;

 private:
  std::unordered_multimap<std::size_t, std::size_t> known_;
};

// All subsets of some statements.
std::vector<Statements> subsets(const Statements& of) {
  std::vector<Statements> all{Statements{}};
  each(of, [&](std::size_t i) {
    for (auto at = all.size(); at-- > 0;) {
      all.push_back(all[at]);
      all.back().set(i);
    }
  });
  return all;
}

// Returns the statements that may be worth recomputing: several statements read them, directly or through others that
// are recomputed. Otherwise at most one kernel computes them anyway. Readers come after what they read.
Statements recomputable(const Readers& all) {
  Statements some;
  for (auto i = all.reads.size(); i-- > 0;) {
    if (!all.needed[i] || !all.recomputable[i] || all.outputs[i]) continue;
    some[i] = all.readers[i].count() > 1 || (all.readers[i] & some).any();
  }
  return some;
}

// Adds the steps of one choice of recomputed statements. Its places are numbered after those of earlier choices; only
// the empty and the full set are shared. Returns false if there are too many.
bool draw(const Contracted& kept, bool recomputes, std::size_t most, Drawing& drawing) {
  const auto all = kept.finished(most);
  if (!all) return false;
  auto& cuts = drawing.cuts;
  const auto first = cuts.places;
  cuts.places += all->size() - 2;
  const auto place = [&](std::size_t i) { return i == 0 ? 0 : i + 1 == all->size() ? SIZE_MAX : first + i - 1; };
  const auto in_order = [&](const Statements& done) { return !recomputes && is_beginning(done, all->back()); };
  for (std::size_t from = 0; from < all->size(); ++from)
    for (auto to = from + 1; to < all->size(); ++to) {
      const auto &before = (*all)[from], &after = (*all)[to];
      if (!includes(after, before)) continue;
      if (cuts.steps.size() == most) return false;
      cuts.steps.push_back(
          {place(from), place(to), drawing.cut(kept.cut(after & ~before)), in_order(before) && in_order(after)});
    }
  return true;
}

}  // namespace

Statements needed_statements(const Diagram& diagram) { return readers_of(diagram).needed; }

std::optional<Cuts> every_cut(const Diagram& diagram, const Statements& of, std::size_t most) {
  constexpr std::size_t most_recomputed = 8;
  const auto readers = among(readers_of(diagram), of);
  const auto recomputed = recomputable(readers);
  if (recomputed.count() > most_recomputed) return std::nullopt;
  Drawing drawing;
  drawing.cuts.places = 1;
  for (const auto& some : subsets(recomputed)) {
    const Contracted kept(readers, some);
    if (kept.is_worth_recomputing() && !draw(kept, some.any(), most, drawing)) return std::nullopt;
  }
  const auto everything = drawing.cuts.places++;
  for (auto& step : drawing.cuts.steps) step.to = std::min(step.to, everything);
  return std::move(drawing.cuts);
}

Cuts cuts_in_order(const Diagram& diagram) {
  constexpr std::size_t most_kernels = 2000;
  const auto readers = readers_of(diagram);
  const Contracted all(readers, {});
  std::vector<std::size_t> order;
  each(readers.needed, [&](std::size_t i) { order.push_back(i); });
  const auto longest = std::max<std::size_t>(2, most_kernels / order.size());
  Drawing drawing;
  drawing.cuts.places = order.size() + 1;
  for (std::size_t from = 0; from < order.size(); ++from) {
    Statements block;
    for (auto to = from; to < std::min(order.size(), from + longest); ++to) {
      block.set(order[to]);
      drawing.cuts.steps.push_back({from, to + 1, drawing.cut(all.cut(block)), true});
    }
  }
  return std::move(drawing.cuts);
}

namespace {

struct Reduced {
  std::vector<WireId> wires;                  // of the positions over which the body runs
  std::vector<std::vector<WireId>> accesses;  // wires of each access in the body
};

// Collects the wires along which each access varies, and every body that is reduced.
void collect(const Diagram& diagram, ExprId id, std::vector<std::vector<WireId>>& accesses,
             std::vector<Reduced>& bodies) {
  match(
      diagram.at(id).node, [](const Constant&) {}, [](const Position&) {}, [](const Size&) {},
      [&](const Access&) { accesses.push_back(free_wires(diagram, id)); },
      [&](const Apply& a) {
        for (const auto argument : a.arguments) collect(diagram, argument, accesses, bodies);
      },
      [&](const Cast& c) { collect(diagram, c.value, accesses, bodies); },
      [&](const Reduce& r) {
        Reduced body{free_wires(diagram, r.body), {}};
        collect(diagram, r.body, body.accesses, bodies);
        accesses.insert(accesses.end(), body.accesses.begin(), body.accesses.end());
        bodies.push_back(std::move(body));
      });
}

// Returns none if a size is not known.
std::optional<double> positions(const Diagram& diagram, const std::vector<WireId>& wires) {
  double product = 1;
  for (const auto wire : wires) {
    const auto size = diagram.size(wire);
    if (!size) return std::nullopt;
    product *= static_cast<double>(*size);
  }
  return product;
}

bool gives_more_than_it_takes(const Diagram& diagram, const Reduced& body, const std::vector<WireId>& result) {
  double taken = 0;
  for (const auto& access : body.accesses) {
    const auto some = positions(diagram, access);
    if (!some) return false;
    taken += *some;
  }
  const auto given = positions(diagram, result);
  return given && taken < *given;
}

}  // namespace

bool may_be_recomputed(const Diagram& diagram, const Statement& statement) {
  const auto& result = diagram.at(statement.output).wires;
  std::vector<std::vector<WireId>> covers;
  std::vector<Reduced> bodies;
  collect(diagram, statement.value, covers, bodies);
  covers.push_back(result);
  std::ranges::sort(covers.back());
  return std::ranges::all_of(bodies, [&](const Reduced& body) {
    return std::ranges::any_of(covers, [&](const auto& wires) { return std::ranges::includes(wires, body.wires); }) ||
           gives_more_than_it_takes(diagram, body, result);
  });
}

}  // namespace napkin
