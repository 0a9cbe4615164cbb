// The description of --json, and what is told of an object that is not as described.
#include "compiler/show/json/Check.h"
#include "compiler/show/json/Kinds.h"
#include "compiler/show/json/Schemas.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>

namespace tbem::show {
namespace {

std::string faultOf(const char* text) { return jsonFault(Json::parse(text)); }

TEST(JsonFault, OfWhatIsAsDescribed) {
  EXPECT_EQ(faultOf(R"({"kind":"doctor","schema":1,"what":"cache","ok":true,"text":""})"), "");
  EXPECT_EQ(faultOf(R"({"kind":"weight","schema":1,"group":null,"name":"w","shape":[],"dtype":"f32","bytes":4})"), "");
  EXPECT_EQ(faultOf(R"({"kind":"plan","schema":1,"buffers":1,"peak":8,"bound":8,"holds":true})"), "");
}

TEST(JsonFault, NamesTheField) {
  EXPECT_EQ(faultOf(R"({"kind":"nobody","schema":1})"), "`nobody` is not described");
  EXPECT_EQ(faultOf(R"({"kind":"doctor","schema":2,"what":"","ok":true,"text":""})"),
            "`doctor`: it does not begin with `kind` and `schema`");
  EXPECT_EQ(faultOf(R"({"kind":"doctor","schema":1,"what":"","ok":1,"text":""})"), "`doctor`: `ok` is not a boolean");
  EXPECT_EQ(faultOf(R"({"kind":"doctor","schema":1,"what":"","ok":true})"), "`doctor`: `text` is missing, or not in its place");
  EXPECT_EQ(faultOf(R"({"kind":"doctor","schema":1,"ok":true,"what":"","text":""})"),
            "`doctor`: `what` is missing, or not in its place");
  EXPECT_EQ(faultOf(R"({"kind":"doctor","schema":1,"what":"","ok":true,"text":"","more":1})"),
            "`doctor`: `more` is not described, or not in its place");
  EXPECT_EQ(faultOf(R"({"kind":"weight","schema":1,"group":"input","name":"w","shape":[1],"dtype":"f32","bytes":4})"),
            "`weight`: `group` is \"input\", not one of: weight buffer");
  EXPECT_EQ(faultOf(R"({"kind":"weight","schema":1,"group":null,"name":"w","shape":[1,null],"dtype":"f32","bytes":4})"),
            "`weight`: `shape[1]` is not an integer");
  EXPECT_EQ(faultOf(R"({"kind":"plan","schema":1,"buffers":1,"peak":8,"bound":8,"offsets":{"a":"b"}})"),
            "`plan`: `offsets.a` is not an integer");
}

TEST(JsonFault, NumbersThatAreNotFinite) {
  EXPECT_EQ(
      faultOf(R"({"kind":"train_step","schema":1,"name":"n","step":1,"loss":null,"loss_not_finite":"inf","learning_rate":0.1})"),
      "");
  EXPECT_EQ(faultOf(R"({"kind":"train_step","schema":1,"name":"n","step":1,"loss":null,"learning_rate":0.1})"),
            "`train_step`: `loss` is not a number");
  EXPECT_EQ(
      faultOf(R"({"kind":"train_step","schema":1,"name":"n","step":1,"step_not_finite":"inf","loss":1,"learning_rate":null})"),
      "`train_step`: `step_not_finite` is not described, or not in its place");
  const char* predicted =
      R"({"kind":"predict","schema":1,"name":"n","backend":"cpu","tune":"off","examples":"","levels":{},"value":1,)"
      R"("interval":[null,2],"interval_not_finite":["-inf",null],"inside":true})";
  EXPECT_EQ(faultOf(predicted), "");
}

void expectSound(std::span<const JsonField> fields, const std::string& path) {
  std::set<std::string_view> names;
  for (const JsonField& field : fields) {
    const std::string name = path + "." + std::string(field.name);
    EXPECT_TRUE(names.insert(field.name).second) << name << " stands there twice";
    EXPECT_FALSE(field.means.empty()) << name;
    EXPECT_FALSE(field.means.ends_with('.')) << name;
    EXPECT_TRUE(field.words.empty() || field.type == JsonType::String) << name;
    EXPECT_EQ(field.inner != nullptr, field.type == JsonType::Object) << name;
    expectSound(field.fields(), name);
  }
}

TEST(JsonKinds, EachOnceWithFieldsThatMeanSomething) {
  std::set<std::string_view> names;
  for (const JsonGroup& group : jsonGroups()) {
    for (const JsonKind& kind : group.kinds) {
      EXPECT_TRUE(names.insert(kind.name).second) << kind.name << " is described twice";
      EXPECT_EQ(findJsonKind(kind.name), &kind);
      EXPECT_TRUE(kind.help.ends_with('.')) << kind.name;
      expectSound(kind.fields(), std::string(kind.name));
    }
  }
  EXPECT_EQ(findJsonKind("nobody"), nullptr);
}

TEST(JsonSchemas, AreClosedAndSayWhatIsNull) {
  const Json schema = schemaOf(*findJsonKind("train_step"));
  EXPECT_EQ(schema.at("additionalProperties"), false);
  EXPECT_EQ(schema.at("required").dump(), R"(["kind","schema","name","step","loss","learning_rate"])");
  EXPECT_EQ(schema.at("properties").at("learning_rate").at("type").dump(), R"(["number","null"])");
  EXPECT_EQ(schema.at("patternProperties").begin().key(), "^(loss|learning_rate)_not_finite$");
  const Json plan = schemaOf(*findJsonKind("plan"));
  EXPECT_EQ(plan.at("required").dump(), R"(["kind","schema","buffers","peak","bound"])");
  EXPECT_EQ(plan.at("properties").at("offsets").at("additionalProperties").dump(), R"({"type":"integer"})");
}

}  // namespace
}  // namespace tbem::show
