// written by a person
