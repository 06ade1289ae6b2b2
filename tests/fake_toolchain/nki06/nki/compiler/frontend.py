class ParserFrontend:
    pass
