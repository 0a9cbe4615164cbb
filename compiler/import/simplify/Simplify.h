// An exported graph without nodes that give on what they are given, and with what is known of its weights. Internal to
// compiler/import.
#pragma once

#include "compiler/import/Exported.h"

namespace tbem::imports {

/// Finds Value::isShared, too. A node that writes into a part of a tensor that is read as a whole behind it becomes one that
/// makes a new tensor. One of which that is not known has "in-place " before its operator's name: it has no form in the language.
Exported simplified(Exported exported);

// ---- Its parts ----------------------------------------------------------------------------------------------------------

Exported withoutPartialWrites(Exported exported);
/// Elements of the results of operators that have several become operators of their own.
void takeResultsApart(Exported& exported);
/// The layers and directions of a recurrent network become nodes of their own.
void takeLayersApart(Exported& exported);
/// Attention with a mask that lets each place see itself and those before it is told so in place of the mask; one that hides
/// nothing is left out.
void nameMasks(Exported& exported);
/// A table of whole numbers that a grid of steps makes is that grid.
void nameGrids(Exported& exported);
bool isView(const Value& node);
bool writesInPlace(const Value& node);
/// The argument with each value by another.
void replace(Argument& argument, const std::vector<ValueId>& by);

}  // namespace tbem::imports
