package memory

import "cordelia/schemas"

// selectItemsNamed finds visible items by a short form ?3 of their ids.
var selectItemsNamed = `SELECT i.id FROM items i WHERE ` + schemas.MatchesShortID("i.id", "?3") + ` AND ` + visible + ` LIMIT ?4`
