#include "data/parquet/metadata.h"

#include "data/parquet/thrift_reader.h"

namespace trainyard::data {
namespace {

// Calls `take` for each field of the struct at the reader's position. `take` must read the value.
template <typename Take>
void ForEachField(ThriftReader* reader, const Take& take) {
  for (ThriftField field = reader->NextField({}); field.type != ThriftType::kStop;
       field = reader->NextField(field)) {
    take(field);
  }
}

SchemaElement ReadSchemaElement(ThriftReader* reader) {
  SchemaElement element;
  ForEachField(reader, [&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        element.type = reader->Integer(field);
        return;
      case 3:
        element.repetition = reader->Integer(field);
        return;
      case 4:
        element.name = reader->Binary(field);
        return;
      case 5:
        element.children = reader->Integer(field);
        return;
      default:
        reader->Skip(field);
    }
  });
  return element;
}

bool ReadsPath(ThriftReader* reader, const ThriftField& field, std::string_view name) {
  size_t elements = 0;
  bool is_name = false;
  for (size_t left = reader->ListOf(field, ThriftType::kBinary); left > 0 && reader->ok(); --left) {
    is_name = reader->Binary({0, ThriftType::kBinary}) == name;
    ++elements;
  }
  return is_name && elements == 1;
}

void ReadColumnMetadata(ThriftReader* reader, std::string_view name, ColumnChunk* column) {
  ForEachField(reader, [&](const ThriftField& field) {
    switch (field.id) {
      case 3:
        column->is_top_level = ReadsPath(reader, field, name);
        return;
      case 4:
        column->codec = reader->Integer(field);
        return;
      case 5:
        column->values = reader->Integer(field);
        return;
      case 9:
        column->data_page = reader->Integer(field);
        return;
      case 11:
        column->dictionary_page = reader->Integer(field);
        return;
      default:
        reader->Skip(field);
    }
  });
}

ColumnChunk ReadColumnChunk(ThriftReader* reader, std::string_view name) {
  ColumnChunk column;
  ForEachField(reader, [&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        column.in_other_file = !reader->Binary(field).empty();
        return;
      case 3:
        if (reader->IsStruct(field)) ReadColumnMetadata(reader, name, &column);
        return;
      case 8:
      case 9:
        column.is_encrypted = true;
        reader->Skip(field);
        return;
      default:
        reader->Skip(field);
    }
  });
  return column;
}

RowGroup ReadRowGroup(ThriftReader* reader, std::string_view name) {
  RowGroup group;
  ForEachField(reader, [&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        for (size_t left = reader->ListOf(field, ThriftType::kStruct); left > 0; --left) {
          if (!reader->ok()) return;
          ColumnChunk column = ReadColumnChunk(reader, name);
          if (column.is_top_level) group.column = column;
        }
        return;
      case 3:
        group.rows = reader->Integer(field);
        return;
      default:
        reader->Skip(field);
    }
  });
  return group;
}

void ReadDataPage(ThriftReader* reader, PageHeader* header) {
  ForEachField(reader, [&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        header->values = reader->Integer(field);
        return;
      case 2:
        header->encoding = reader->Integer(field);
        return;
      case 3:
        header->definition_encoding = reader->Integer(field);
        return;
      default:
        reader->Skip(field);
    }
  });
}

void ReadDictionaryPage(ThriftReader* reader, PageHeader* header) {
  ForEachField(reader, [&](const ThriftField& field) {
    if (field.id == 1) {
      header->values = reader->Integer(field);
    } else if (field.id == 2) {
      header->encoding = reader->Integer(field);
    } else {
      reader->Skip(field);
    }
  });
}

void ReadDataPageV2(ThriftReader* reader, PageHeader* header) {
  ForEachField(reader, [&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        header->values = reader->Integer(field);
        return;
      case 4:
        header->encoding = reader->Integer(field);
        return;
      case 5:
        header->definition_bytes = reader->Integer(field);
        return;
      case 6:
        header->repetition_bytes = reader->Integer(field);
        return;
      case 7:
        header->is_compressed = reader->Boolean(field);
        return;
      default:
        reader->Skip(field);
    }
  });
}

void ReadPageField(ThriftReader* reader, const ThriftField& field, PageHeader* header) {
  switch (field.id) {
    case 1:
      header->type = reader->Integer(field);
      return;
    case 2:
      header->uncompressed_bytes = reader->Integer(field);
      return;
    case 3:
      header->compressed_bytes = reader->Integer(field);
      return;
    case 4:
      header->crc = static_cast<uint32_t>(reader->Integer(field));
      return;
    case 5:
      if (reader->IsStruct(field)) ReadDataPage(reader, header);
      return;
    case 7:
      if (reader->IsStruct(field)) ReadDictionaryPage(reader, header);
      return;
    case 8:
      if (reader->IsStruct(field)) ReadDataPageV2(reader, header);
      return;
    default:
      reader->Skip(field);
  }
}

}  // namespace

std::optional<Footer> ParseFooter(std::string_view bytes, std::string_view name) {
  ThriftReader reader(bytes);
  Footer footer;
  bool fits = true;
  ForEachField(&reader, [&](const ThriftField& field) {
    switch (field.id) {
      case 2:
        for (size_t left = reader.ListOf(field, ThriftType::kStruct); left > 0; --left) {
          fits = fits && footer.schema.size() < kSchemaElementsMax;
          if (!reader.ok() || !fits) return;
          footer.schema.push_back(ReadSchemaElement(&reader));
        }
        return;
      case 3:
        footer.rows = reader.Integer(field);
        return;
      case 4:
        for (size_t left = reader.ListOf(field, ThriftType::kStruct); left > 0; --left) {
          fits = fits && footer.row_groups.size() < kRowGroupsMax;
          if (!reader.ok() || !fits) return;
          footer.row_groups.push_back(ReadRowGroup(&reader, name));
        }
        return;
      case 8:
        footer.is_encrypted = true;
        reader.Skip(field);
        return;
      default:
        reader.Skip(field);
    }
  });
  if (!reader.ok() || !fits || footer.schema.empty()) return std::nullopt;
  return footer;
}

std::optional<PageHeader> ParsePageHeader(std::string_view bytes, size_t* header_bytes) {
  ThriftReader reader(bytes);
  PageHeader header;
  ForEachField(&reader, [&](const ThriftField& field) { ReadPageField(&reader, field, &header); });
  if (!reader.ok()) return std::nullopt;
  *header_bytes = reader.position();
  return header;
}

}  // namespace trainyard::data
