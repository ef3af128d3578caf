/* Bytes of a user in XML 1.0. */
#ifndef MLA_CLI_XML_H
#define MLA_CLI_XML_H

#include "analyzer/base.h"

#include <stdio.h>

/*
 * As the text of an element or in the quotes of an attribute: markup is escaped, line ends and
 * tabs too, so that a parser keeps them; what XML cannot hold (control characters, bytes that are
 * not UTF-8) becomes U+FFFD.
 */
void mla_xml_put(FILE *to, mla_str s);

/* ` name="value"` */
void mla_xml_attribute(FILE *to, const char *name, mla_str value);

#endif
