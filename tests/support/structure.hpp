// A tree as text with every bracket written and no spans: two files are equal up to spans if these texts are.
#pragma once

#include <string>

#include "napkin/syntax.hpp"

inline std::string structure(const napkin::ast::Expr& expr) {
  std::string text = "(" + std::to_string(static_cast<int>(expr.kind)) + expr.name.text + expr.number_text;
  for (const auto& axis : expr.axes) text += " " + axis.text;
  text += "|";
  for (const auto& argument : expr.arguments) text += structure(argument);
  return text + ")";
}

inline std::string structure(const std::vector<napkin::ast::Name>& names) {
  std::string text = "[";
  for (const auto& name : names) text += name.text + " ";
  return text + "]";
}

inline std::string structure(const napkin::ast::DeclarationNode& node) {
  using namespace napkin::ast;
  struct {
    std::string operator()(const Axis& a) const { return "axis " + a.name.text + (a.size ? structure(*a.size) : ""); }
    std::string operator()(const Input& i) const {
      return "input " + i.name.text + ":" + i.type.text + structure(i.axes) + (i.density ? structure(*i.density) : "");
    }
    std::string operator()(const Output& o) const { return "output " + o.name.text; }
    std::string operator()(const Statement& s) const {
      return s.name.text + ":" + (s.type ? s.type->text : "") + structure(s.axes) + structure(s.value);
    }
    std::string operator()(const Def& d) const {
      return "def " + d.name.text + structure(d.axes) + structure(d.parameters) + structure(d.value);
    }
    std::string operator()(const Partition& p) const {
      std::string text = "partition " + p.name.text + "@" + (p.target ? p.target->text : "");
      for (const auto& s : p.splits)
        text += (s.stream ? ",s " : ",g ") + s.axis.text + " " + std::to_string(s.size) + " " + s.level.text;
      return text;
    }
    std::string operator()(const Broken&) const { return "broken"; }
  } visitor;
  return std::visit(visitor, node);
}

inline std::string structure(const napkin::ast::File& file) {
  std::string text = "diagram " + file.diagram.text + "\n";
  for (const auto& declaration : file.declarations) text += structure(declaration.node) + "\n";
  for (const auto& comment : file.comments) text += comment.text + "\n";
  return text;
}
