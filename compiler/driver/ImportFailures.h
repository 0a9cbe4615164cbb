// Why a model is no program, as diagnostics.
#pragma once

#include "compiler/import/Exported.h"
#include "compiler/import/Import.h"
#include "compiler/show/Out.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::driver {

/// Whether the files that places of a model name are those of this folder: an export that was made elsewhere, or long ago, names
/// files that others here may be called as.
enum class ModelFiles : std::uint8_t { Here, Elsewhere };

/// Says why there is no export, and gives the exit status.
int tellFailure(show::Out& out, const imports::ExportFailure& failure, ModelFiles files);
/// The same as one sentence.
std::string sentenceOf(const imports::ExportFailure& failure);
/// Says which operators have no form in the language, and gives the exit status.
int tellLacking(show::Out& out, const std::vector<imports::LackingOperator>& operators, ModelFiles files);
/// Says what the program does otherwise than the model.
void tellRemarks(show::Out& out, const std::vector<imports::ImportRemark>& remarks, ModelFiles files);
/// Says that the program's weights are not the model's, or that it is no program, and gives the exit status.
int tellDifference(show::Out& out, const std::string& why);

}  // namespace tbem::driver
