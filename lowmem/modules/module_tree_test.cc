#include "footprint/lowmem/modules/module_tree.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/lowmem/modules/module.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::lowmem_internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A module that can hold others.
class Node : public Module {
 public:
  explicit Node(std::string class_name = "Node")
      : Module(std::move(class_name)) {}
  using Module::AddChild;
  using Module::AddParameter;
};

// The tree has "" (one parameter), "encoder", "encoder.0" (Layer, one
// parameter), "encoder.0.norm" (Norm, one) and "head" (Layer, one).
struct Tree {
  Tree() {
    root.AddParameter("scale", {1});
    root.AddChild("encoder", &encoder);
    encoder.AddChild("0", &layer);
    layer.AddParameter("weight", {2, 3});
    layer.AddChild("norm", &norm);
    norm.AddParameter("gain", {2});
    root.AddChild("head", &head);
    head.AddParameter("weight", {2});
  }
  Node root, encoder, layer{"Layer"}, norm{"Norm"}, head{"Layer"};
};

std::vector<bool> Chosen(const std::vector<std::string>& classes,
                         const std::vector<std::string>& names,
                         const std::vector<std::string>& skipped) {
  Tree tree;
  const auto modules = WalkModules(&tree.root);
  EXPECT_THAT(modules, IsOk());
  const auto chosen = ChooseModules(*modules, classes, names, skipped);
  EXPECT_THAT(chosen, IsOk());
  return chosen.value_or(std::vector<bool>());
}

absl::Status Refusal(const std::vector<std::string>& classes,
                     const std::vector<std::string>& names,
                     const std::vector<std::string>& skipped) {
  Tree tree;
  const auto modules = WalkModules(&tree.root);
  return ChooseModules(*modules, classes, names, skipped).status();
}

TEST(WalkModulesTest, GoesThroughTheTreeInItsOrder) {
  Tree tree;
  const auto modules = WalkModules(&tree.root);
  ASSERT_THAT(modules, IsOk());
  std::vector<std::string> names;
  for (const NamedModule& module : *modules) names.push_back(module.name);
  EXPECT_THAT(
      names, ElementsAre("", "encoder", "encoder.0", "encoder.0.norm", "head"));
  EXPECT_EQ((*modules)[3].module, &tree.norm);
}

TEST(WalkModulesTest, RefusesWhatIsNoTree) {
  Node twice, child;
  twice.AddChild("a", &child);
  twice.AddChild("b", &child);
  EXPECT_THAT(WalkModules(&twice).status().message(),
              HasSubstr("module \"b\": is twice in the tree"));
  Node cycle;
  cycle.AddChild("itself", &cycle);
  EXPECT_THAT(WalkModules(&cycle).status().message(),
              HasSubstr("is twice in the tree"));
  Node null;
  null.AddChild("nothing", nullptr);
  EXPECT_THAT(WalkModules(&null).status().message(),
              HasSubstr("module \"nothing\": is null"));
  EXPECT_THAT(WalkModules(nullptr), Not(IsOk()));
}

TEST(WalkModulesTest, RefusesNamesThatAreTakenOrNone) {
  for (const char* bad : {"", ".a", "a."}) {
    Node parent, child;
    parent.AddChild(bad, &child);
    EXPECT_THAT(WalkModules(&parent),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
    Node module;
    module.AddParameter(bad, {1});
    EXPECT_THAT(WalkModules(&module), Not(IsOk())) << bad;
  }
  Node same, one, other;
  same.AddChild("a", &one);
  same.AddChild("a", &other);
  EXPECT_THAT(WalkModules(&same).status().message(),
              HasSubstr("two of its parts are named \"a\""));
  // "a.b" of the root has the same full name as "b" of "a".
  Node root, a, b, dotted;
  root.AddChild("a", &a);
  a.AddChild("b", &b);
  root.AddChild("a.b", &dotted);
  EXPECT_THAT(WalkModules(&root), Not(IsOk()));
  // A parameter and a module have the same name.
  Node mixed, child;
  mixed.AddParameter("weight", {1});
  mixed.AddChild("weight", &child);
  EXPECT_THAT(WalkModules(&mixed), Not(IsOk()));
}

TEST(ChooseModulesTest, TakesAllUnlessTold) {
  EXPECT_THAT(Chosen({}, {}, {}), ElementsAre(true, true, true, true, true));
}

TEST(ChooseModulesTest, TakesClasses) {
  EXPECT_THAT(Chosen({"Layer"}, {}, {}),
              ElementsAre(false, false, true, false, true));
  EXPECT_THAT(Chosen({"Layer", "Norm"}, {}, {}),
              ElementsAre(false, false, true, true, true));
}

TEST(ChooseModulesTest, TakesNamesWithAllBelow) {
  EXPECT_THAT(Chosen({}, {"encoder"}, {}),
              ElementsAre(false, true, true, true, false));
  EXPECT_THAT(Chosen({}, {"encoder.0.norm", "head"}, {}),
              ElementsAre(false, false, false, true, true));
  EXPECT_THAT(Chosen({}, {""}, {}), ElementsAre(true, true, true, true, true));
}

TEST(ChooseModulesTest, SkipsAfterChoosing) {
  EXPECT_THAT(Chosen({}, {}, {"encoder.0"}),
              ElementsAre(true, true, false, false, true));
  EXPECT_THAT(Chosen({"Layer"}, {}, {"encoder"}),
              ElementsAre(false, false, false, false, true));
}

TEST(ChooseModulesTest, DoesNotTakeAPartOfANameForIt) {
  EXPECT_THAT(Refusal({}, {"enc"}, {}), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Refusal({}, {"0"}, {}), StatusIs(absl::StatusCode::kNotFound));
}

TEST(ChooseModulesTest, NamesWhatIsNearWhatIsNotThere) {
  EXPECT_THAT(Refusal({"Leyer"}, {}, {}).message(),
              HasSubstr("no class \"Leyer\" in the model; the closest: "
                        "\"Layer\""));
  EXPECT_THAT(Refusal({}, {"encodr.0"}, {}).message(),
              HasSubstr("no module \"encodr.0\""));
  EXPECT_THAT(Refusal({}, {}, {"heads"}).message(), HasSubstr("\"head\""));
}

TEST(ChooseModulesTest, RefusesChoicesThatMeanNothing) {
  EXPECT_THAT(Refusal({"Layer"}, {"head"}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  Node root, empty;
  root.AddChild("empty", &empty);
  const auto modules = WalkModules(&root);
  EXPECT_THAT(ChooseModules(*modules, {}, {"empty"}, {}).status().message(),
              HasSubstr("\"empty\" has no parameters to load"));
}

}  // namespace
}  // namespace footprint::lowmem_internal
