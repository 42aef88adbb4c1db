// Recognises files of data or of a model by their names.
//
//   IsDataFile("/data/train.csv.gz");  // true
//   IsDataFile("/etc/passwd");         // false
//
// Databases do not count: a database is open as long as its program, and is not
// read whole. The kinds are tables (csv, parquet, ...), arrays (npy, mat, ...),
// models (safetensors, pt, onnx, ...) and formats that often hold one of these
// (json, pkl, bin). A compressed file has the kind of its content. Case does
// not matter.
//
// Pure and thread-safe. It allocates nothing, as the agent needs.

#ifndef FOOTPRINT_PROFILING_STAGES_DATA_FILE_KINDS_H_
#define FOOTPRINT_PROFILING_STAGES_DATA_FILE_KINDS_H_

namespace footprint::profiling_internal {

// File name endings. This list is the documentation.
inline constexpr char kDataFileKinds[][12] = {
    // tables
    "csv", "tsv", "parquet", "feather", "arrow", "orc", "avro", "xls", "xlsx",
    "dta", "sas7bdat", "sav", "svm", "libsvm", "arff",
    // records
    "json", "jsonl", "ndjson", "msgpack", "tfrecord", "tfrecords",
    // arrays
    "npy", "npz", "mat", "h5", "hdf5", "nc", "rds", "rdata", "mtx",
    // models, and formats that save any object
    "pkl", "pickle", "joblib", "safetensors", "pt", "pth", "ckpt", "onnx",
    "tflite", "pb", "keras", "gguf", "ggml", "bin", "model", "ubj", "pmml",
    "caffemodel", "weights", "mlmodel", "llamafile"};

inline constexpr char kCompressedKinds[][12] = {"gz",  "bz2", "xz",
                                                "zst", "lz4", "lzma"};

// Returns whether the file's name says that it is a data or model file. The
// path must not be null.
bool IsDataFile(const char* path);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_STAGES_DATA_FILE_KINDS_H_
