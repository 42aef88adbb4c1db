// Recognises files of data or of a model by their names.
//
//   IsDataFile("/data/train.csv.gz");  // true
//   IsDataFile("/etc/passwd");         // false
//
// A database is none: it is open as long as its program, and not read whole.
// The kinds: tables (csv, parquet, ...), arrays (npy, mat, ...), models
// (safetensors, pt, onnx, ...) and what often holds one of these (json, pkl,
// bin). A file that is compressed is of the kind inside. Capitals do not
// matter.
//
// Pure, thread-safe, and without allocation, for the agent.

#ifndef FOOTPRINT_PROFILING_STAGES_DATA_FILE_KINDS_H_
#define FOOTPRINT_PROFILING_STAGES_DATA_FILE_KINDS_H_

namespace footprint::profiling_internal {

// Ends of names; the list is the documentation.
inline constexpr char kDataFileKinds[][12] = {
    // tables
    "csv", "tsv", "parquet", "feather", "arrow", "orc", "avro", "xls", "xlsx",
    "dta", "sas7bdat", "sav", "svm", "libsvm", "arff",
    // records
    "json", "jsonl", "ndjson", "msgpack", "tfrecord", "tfrecords",
    // arrays
    "npy", "npz", "mat", "h5", "hdf5", "nc", "rds", "rdata", "mtx",
    // models, and what saves any object
    "pkl", "pickle", "joblib", "safetensors", "pt", "pth", "ckpt", "onnx",
    "tflite", "pb", "keras", "gguf", "ggml", "bin", "model", "ubj", "pmml",
    "caffemodel", "weights", "mlmodel", "llamafile"};

inline constexpr char kCompressedKinds[][12] = {"gz",  "bz2", "xz",
                                                "zst", "lz4", "lzma"};

bool IsDataFile(const char* path);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_STAGES_DATA_FILE_KINDS_H_
