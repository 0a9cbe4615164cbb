#include "compiler/import/text/Remarks.h"

#include "compiler/diagnostics/tables/Import.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::imports {

namespace {

void add(std::vector<ImportRemark>& remarks, ImportRemark remark) {
  const auto same = [&](const ImportRemark& one) { return one.message == remark.message && one.place == remark.place; };
  const auto known = std::ranges::find_if(remarks, same);
  if (known == remarks.end())
    remarks.push_back(std::move(remark));
  else
    known->count += remark.count;
}

}  // namespace

std::vector<ImportRemark> importRemarks(const Exported& exported) {
  std::vector<ImportRemark> remarks;
  for (const UnseenRate& rate : exported.rates)
    add(remarks,
        {diag::rate_not_seen,
         fmt::format("`{}` = {} of `{}` ({} module{}) is not in the program: the model's code drops nothing when it does not "
                     "train",
                     rate.name, rate.rate, rate.kind, rate.count, rate.count == 1 ? "" : "s"),
         rate.place, 1});
  return remarks;
}

}  // namespace tbem::imports
