#include "footprint/profiling/stages/import_stages.h"

#include <dlfcn.h>
#include <string.h>

#include <cstdint>

#include "footprint/profiling/stages/stage_table.h"

namespace footprint::profiling_internal {
namespace {

// The parts of CPython's stable interface that are used here, with its names
// and layouts.
using PyObject = struct _object;
using PyCFunction = PyObject* (*)(PyObject* self, PyObject* arguments,
                                  PyObject* keywords);
struct PyMethodDef {
  const char* name;
  PyCFunction function;
  int flags;
  const char* documentation;
};
constexpr int kVariableArgumentsAndKeywords = 3;  // METH_VARARGS|METH_KEYWORDS

using AuditHook = int (*)(const char* event, PyObject* arguments, void* user);

struct Python {
  int (*Py_IsInitialized)();
  int (*PySys_AddAuditHook)(AuditHook hook, void* user);
  PyObject* (*PySys_GetObject)(const char* name);
  PyObject* (*PyDict_GetItemString)(PyObject* dict, const char* key);
  PyObject* (*PyObject_GetAttrString)(PyObject* object, const char* name);
  int (*PyObject_SetAttrString)(PyObject* object, const char* name,
                                PyObject* value);
  PyObject* (*PyCFunction_NewEx)(PyMethodDef* method, PyObject* self,
                                 PyObject* module);
  PyObject* (*PyObject_Call)(PyObject* callable, PyObject* arguments,
                             PyObject* keywords);
  PyObject* (*PyTuple_GetItem)(PyObject* tuple, intptr_t index);
  const char* (*PyUnicode_AsUTF8AndSize)(PyObject* text, intptr_t* size);
  void (*PyErr_Clear)();
};

Python python;
// Whether there is an interpreter that has read no module yet.
bool are_watched = false;
bool is_installed = false;
// The number of nested imports that the thread is in.
__thread int import_depth __attribute__((tls_model("initial-exec"))) = 0;

template <typename Function>
bool Find(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

#define FOOTPRINT_FIND(name) Find(#name, &python.name)
bool FindPython() {
  return FOOTPRINT_FIND(Py_IsInitialized) &&
         FOOTPRINT_FIND(PySys_AddAuditHook) &&
         FOOTPRINT_FIND(PySys_GetObject) &&
         FOOTPRINT_FIND(PyDict_GetItemString) &&
         FOOTPRINT_FIND(PyObject_GetAttrString) &&
         FOOTPRINT_FIND(PyObject_SetAttrString) &&
         FOOTPRINT_FIND(PyCFunction_NewEx) && FOOTPRINT_FIND(PyObject_Call) &&
         FOOTPRINT_FIND(PyTuple_GetItem) &&
         FOOTPRINT_FIND(PyUnicode_AsUTF8AndSize) && FOOTPRINT_FIND(PyErr_Clear);
}
#undef FOOTPRINT_FIND

const char* NameOfModule(PyObject* arguments) {
  PyObject* const text = python.PyTuple_GetItem(arguments, 0);
  const char* const name =
      text == nullptr ? nullptr : python.PyUnicode_AsUTF8AndSize(text, nullptr);
  // importlib reports what is wrong with the name.
  if (name == nullptr) python.PyErr_Clear();
  return name;
}

// Makes a stage around importlib's function of the same name, which is `self`.
PyObject* FindAndLoad(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const int64_t visit = import_depth == 0 ? BeginVisit(StageKind::kImport,
                                                       NameOfModule(arguments))
                                          : 0;
  ++import_depth;
  PyObject* const module = python.PyObject_Call(self, arguments, keywords);
  --import_depth;
  EndVisit(StageKind::kImport, visit);
  return module;
}

constexpr char kFunctionName[] = "_find_and_load";
PyMethodDef find_and_load = {kFunctionName, FindAndLoad,
                             kVariableArgumentsAndKeywords, nullptr};

bool Install() {
  PyObject* const modules = python.PySys_GetObject("modules");
  if (modules == nullptr) return false;
  PyObject* const importlib =
      python.PyDict_GetItemString(modules, "_frozen_importlib");
  if (importlib == nullptr) return false;
  // Both references are kept until the process ends.
  PyObject* const original =
      python.PyObject_GetAttrString(importlib, kFunctionName);
  if (original == nullptr) return false;
  PyObject* const wrapper =
      python.PyCFunction_NewEx(&find_and_load, original, nullptr);
  return wrapper != nullptr &&
         python.PyObject_SetAttrString(importlib, kFunctionName, wrapper) == 0;
}

// The audit hook. The interpreter calls it under its lock. The result 0 forbids
// nothing.
int SeeEvent(const char* event, PyObject* /*arguments*/, void* /*user*/) {
  if (is_installed || strcmp(event, "import") != 0) return 0;
  is_installed = true;
  if (!Install()) python.PyErr_Clear();
  return 0;
}

bool EndsWith(const char* text, const char* end) {
  const size_t size = strlen(text);
  const size_t end_size = strlen(end);
  return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

}  // namespace

void WatchImports() { are_watched = FindPython(); }

void ModuleMayBeRead(const char* path) {
  if (!are_watched || path == nullptr) return;
  if (!EndsWith(path, ".py") && !EndsWith(path, ".pyc")) return;
  are_watched = false;
  // Once the interpreter is initialised, it is unknown which thread holds its
  // lock.
  if (python.Py_IsInitialized() == 0) {
    python.PySys_AddAuditHook(SeeEvent, nullptr);
  }
}

}  // namespace footprint::profiling_internal
